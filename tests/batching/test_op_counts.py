"""Blocks hold as few ops as a person would write for a batch."""

import tensorflow as tf

from models.cells import TreeLSTMCell
from tests.batching.interpreter import Compiled, types_of
from tests.batching.tree import define_tree

UNITS = 5


def op_types(subgraph):
    """Returns the ops of each block, vectorised."""
    _, blocks = Compiled(subgraph).vectorise()
    return [types_of(graph) for graph, _ in blocks]


def test_a_tree_lstm():
    cell = TreeLSTMCell(vocabulary_size=10, embedding_size=4, hidden=UNITS)
    tree = define_tree(lambda token: cell.leaf(cell.embed(token)), cell)
    _, internal, leaf = map(len, op_types(tree))
    assert leaf <= 11
    assert internal <= 16


def test_an_rntn():
    """Socher et al. 2013, section 4.3: p = tanh(x' V x + W x + b), x both children."""
    embedding = tf.Variable(tf.random.stateless_normal([10, UNITS], [1, 1]))
    tensor = tf.Variable(
        tf.random.stateless_normal([2 * UNITS, 2 * UNITS, UNITS], [2, 2])
    )
    weights = tf.Variable(tf.random.stateless_normal([2 * UNITS, UNITS], [3, 3]))
    bias = tf.Variable(tf.zeros([UNITS]))

    def cell(left, right):
        x = tf.concat([left, right], 0)
        halfway = tf.einsum("i,ijk->jk", x, tensor)
        quadratic = tf.linalg.matvec(halfway, x, transpose_a=True)
        linear = tf.linalg.matvec(weights, x, transpose_a=True)
        return tf.tanh(quadratic + linear + bias)

    tree = define_tree(lambda token: tf.gather(embedding, token), cell)
    _, internal, _ = op_types(tree)
    assert len(internal) <= 10
    assert internal.count("MatMul") == 2
