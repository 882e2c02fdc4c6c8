"""Blocks hold as few ops as a person would write for a batch."""

import tensorflow as tf

import recursive_tf as rtf
from models.cells import TreeLSTMCell
from recursive_tf.python.batching.prologue import Prologue
from recursive_tf.python.batching.vectorise import vectorise
from tests.batching.interpreter import Compiled
from tests.batching.tree import LEFT, RIGHT

UNITS = 5


def op_types(subgraph):
    """Returns the ops of each block, vectorised, without constants."""
    compiled = Compiled(subgraph)
    prologue = Prologue(compiled.program)
    found = []
    for block in compiled.blocks:
        graph, _ = vectorise(
            compiled.program, prologue, block, compiled.stages.speculated
        )
        types = [op.type for op in graph.get_operations()]
        found.append([t for t in types if t not in ("Placeholder", "Const")])
    return found


def define_tree(leaf_of, cell):
    """Returns a SubGraph over a tree."""
    tokens = tf.constant([3, 4, 0, 5, 0])
    left, right = tf.constant(LEFT), tf.constant(RIGHT)
    with rtf.SubGraph("tree") as tree:
        node = tree.input(tf.int32)
        leaf = lambda: leaf_of(tf.gather(tokens, node))  # noqa: E731
        internal = lambda: cell(  # noqa: E731
            tree(tf.gather(left, node)), tree(tf.gather(right, node))
        )
        tree.output(tf.cond(tf.gather(left, node) < 0, leaf, internal))
    return tree


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
