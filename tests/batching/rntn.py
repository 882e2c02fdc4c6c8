"""The recursive neural tensor network of Socher et al. 2013, section 4.3."""

import tensorflow as tf

from tests.batching.tree import define_tree


def define_rntn(units):
    """Returns a SubGraph: p = tanh(x' V x + W x + b), where x are both children."""
    normal = tf.random.stateless_normal
    embedding = tf.Variable(normal([10, units], [1, 1]))
    tensor = tf.Variable(normal([2 * units, 2 * units, units], [2, 2]))
    weights = tf.Variable(normal([2 * units, units], [3, 3]))
    bias = tf.Variable(tf.zeros([units]))

    def cell(left, right):
        x = tf.concat([left, right], 0)
        halfway = tf.einsum("i,ijk->jk", x, tensor)
        quadratic = tf.linalg.matvec(halfway, x, transpose_a=True)
        linear = tf.linalg.matvec(weights, x, transpose_a=True)
        return tf.tanh(quadratic + linear + bias)

    return define_tree(lambda token: tf.gather(embedding, token), cell)
