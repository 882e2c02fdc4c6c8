"""A recursion, and the same unrolled in Python, where TensorFlow has the gradients."""

import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.close import assert_all_close


def slopes(function, x, weights):
    """Returns the value of a program, and the gradients of a loss that weighs it."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
        loss = tf.reduce_sum(y * tf.constant([1.0, -2.0], y.dtype))
    gradients = tape.gradient(loss, [x, *weights], unconnected_gradients="zero")
    return [y, *map(tf.convert_to_tensor, gradients)]


def assert_same(recursive, unrolled, x, *weights):
    found = slopes(tf.function(recursive), x, weights)
    assert_all_close(found, slopes(unrolled, x, weights))


def recursion(base, step, **signature):
    """Returns x, n -> base(x) for n = 0, and step(x, n, call) above."""
    with rtf.SubGraph("recursion", **signature) as f:
        x, n = f.input(tf.float32, [2]), f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: base(x), lambda: step(x, n, f)))
    return f


def unroll(base, step, x, n):
    """Computes what `recursion(base, step)` does, in Python."""

    def call(x, n):
        n = int(n)
        return base(x) if n < 1 else step(x, tf.constant(n), call)

    return call(x, n)
