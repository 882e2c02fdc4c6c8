"""Concrete functions of root calls."""

import tensorflow as tf

INT = tf.TensorSpec([], tf.int32)
FLOAT = tf.TensorSpec([], tf.float32)


def trace(function, *specs):
    return tf.function(function, autograph=False).get_concrete_function(*specs)


def trace_gradient(weight, power):
    """Returns the derivative of `power` of n and x by a variable."""

    def gradient(n, x):
        with tf.GradientTape() as tape:
            y = power(n, x)
        return tape.gradient(y, weight)

    return trace(gradient, INT, FLOAT)
