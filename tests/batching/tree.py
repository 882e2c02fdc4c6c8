"""A TreeLSTM over one small tree."""

import tensorflow as tf

import recursive_tf as rtf

# The children of each node; leaves have none.
LEFT = [-1, -1, 0, -1, 2]
RIGHT = [-1, -1, 1, -1, 3]
ROOT = 4


def define_tree_lstm(units=4):
    """Returns a SubGraph over the nodes of a tree, which pushes every state."""
    tokens = tf.constant([3, 4, 0, 5, 0])
    left, right = tf.constant(LEFT), tf.constant(RIGHT)
    embedding = tf.Variable(tf.random.stateless_normal([10, units], [1, 2]))
    weight = tf.Variable(tf.random.stateless_normal([2 * units, 5 * units], [3, 4]))
    bias = tf.Variable(tf.random.stateless_normal([5 * units], [5, 6]))
    with rtf.SubGraph("tree_lstm") as tree_lstm:
        node = tree_lstm.input(tf.int32)

        def leaf():
            x = tf.gather(embedding, tf.gather(tokens, node))
            return tf.tanh(x), x

        def internal():
            h1, c1 = tree_lstm(tf.gather(left, node))
            h2, c2 = tree_lstm(tf.gather(right, node))
            gates = tf.linalg.matvec(weight, tf.concat([h1, h2], 0), transpose_a=True)
            i, f1, f2, o, u = tf.split(gates + bias, 5)
            c = tf.sigmoid(i) * tf.tanh(u) + tf.sigmoid(f1) * c1 + tf.sigmoid(f2) * c2
            return tf.sigmoid(o) * tf.tanh(c), c

        h, c = tf.cond(tf.gather(left, node) < 0, leaf, internal)
        tree_lstm.push("h", h, index=node, size=len(LEFT))
        tree_lstm.output(h, c)
    return tree_lstm
