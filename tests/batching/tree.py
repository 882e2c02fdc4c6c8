"""Recursions over one small tree."""

import tensorflow as tf

import recursive_tf as rtf

# The children of each node; leaves have none.
LEFT = [-1, -1, 0, -1, 2]
RIGHT = [-1, -1, 1, -1, 3]
ROOT = 4


def define_tree(leaf_of, cell, pushed=None):
    """Returns a SubGraph over the nodes of the tree.

    Args:
        leaf_of: Returns the state of a leaf, of its token.
        cell: Returns the state of a node, of the states of its children.
        pushed: Returns what every node pushes as "h", of its state.
    """
    tokens = tf.constant([3, 4, 0, 5, 0])
    left, right = tf.constant(LEFT), tf.constant(RIGHT)
    with rtf.SubGraph("tree") as tree:
        node = tree.input(tf.int32)
        leaf = lambda: leaf_of(tf.gather(tokens, node))  # noqa: E731
        internal = lambda: cell(  # noqa: E731
            tree(tf.gather(left, node)), tree(tf.gather(right, node))
        )
        state = tf.cond(tf.gather(left, node) < 0, leaf, internal)
        if pushed is not None:
            tree.push("h", pushed(state), index=node, size=len(LEFT))
        tree.output(state)
    return tree


def define_tree_lstm(units=4):
    """Returns a TreeLSTM without a product at its leaves, which pushes every state."""
    embedding = tf.Variable(tf.random.stateless_normal([10, units], [1, 2]))
    weight = tf.Variable(tf.random.stateless_normal([2 * units, 5 * units], [3, 4]))
    bias = tf.Variable(tf.random.stateless_normal([5 * units], [5, 6]))

    def leaf_of(token):
        x = tf.gather(embedding, token)
        return tf.tanh(x), x

    def cell(left, right):
        (h1, c1), (h2, c2) = left, right
        gates = tf.linalg.matvec(weight, tf.concat([h1, h2], 0), transpose_a=True)
        i, f1, f2, o, u = tf.split(gates + bias, 5)
        c = tf.sigmoid(i) * tf.tanh(u) + tf.sigmoid(f1) * c1 + tf.sigmoid(f2) * c2
        return tf.sigmoid(o) * tf.tanh(c), c

    return define_tree(leaf_of, cell, pushed=lambda state: state[0])
