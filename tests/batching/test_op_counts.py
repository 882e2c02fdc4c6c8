"""Blocks hold as few ops as a person would write for a batch."""

from examples.tree_lstm import TreeLSTMCell
from tests.batching.interpreter import Compiled, types_of
from tests.batching.rntn import define_rntn
from tests.batching.training import Training
from tests.batching.tree import define_tree

UNITS = 5


def define_models_tree_lstm():
    cell = TreeLSTMCell(vocabulary_size=10, embedding_size=4, hidden=UNITS)
    return define_tree(lambda token: cell.leaf(cell.embed(token)), cell)


def op_types(subgraph):
    """Returns the ops of each block, vectorized."""
    _, blocks = Compiled(subgraph).inference_forms()
    return [types_of(graph) for graph, _ in blocks]


def training_op_types(subgraph):
    """Returns the ops of each block with its gradient."""
    return [
        types_of(block.forward)
        + (types_of(block.backward) if block.backward else [])
        + (types_of(block.deferred) if block.deferred else [])
        for block in Training(subgraph).blocks
    ]


def test_a_tree_lstm():
    _, internal, leaf = map(len, op_types(define_models_tree_lstm()))
    assert leaf <= 11
    assert internal <= 16


def test_an_rntn():
    _, internal, _ = op_types(define_rntn(UNITS))
    assert len(internal) <= 10
    assert internal.count("MatMul") == 2


def test_a_tree_lstm_in_training():
    _, internal, leaf = map(len, training_op_types(define_models_tree_lstm()))
    assert leaf <= 25
    assert internal <= 36


def test_an_rntn_in_training():
    _, internal, _ = training_op_types(define_rntn(UNITS))
    assert len(internal) <= 29
    assert internal.count("MatMul") == 6
