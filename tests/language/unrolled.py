"""A recursion held to the loop in plain TensorFlow that it unrolls to."""

import numpy as np
import tensorflow as tf

import recursive_tf as rtf

# What two ways to compute the same may differ by.
TOLERANCES = {tf.float16: 1e-2, tf.bfloat16: 5e-2, tf.float64: 1e-12}


def define_repeat(step, spec=tf.float32, shape=(), **choices):
    """Returns the SubGraph f(n, x): x where n is 0, and else step(f(n - 1, x), n)."""
    with rtf.SubGraph("repeat", **choices) as repeat:
        n, x = repeat.input(tf.int32), repeat.input(spec, shape)
        repeat.output(tf.cond(n < 1, lambda: x, lambda: step(repeat(n - 1, x), n)))
    return repeat


def unroll(step, n, x):
    """Returns the same, by a loop."""
    for level in range(1, n + 1):
        x = step(x, tf.constant(level))
    return x


def check_rows(step, rows, *weights, depths=(3, 0, 2)):
    """Checks the recursion for rows that go unlike deep: values, and gradients if any.

    Args:
        step: A function of a row and of n.
        rows: `[len(depths), ...]`.
        *weights: Variables and tensors that have gradients, too.
        depths: An n for each row.
    """
    rows = tf.convert_to_tensor(rows)
    repeat = define_repeat(step, rows.dtype, rows.shape[1:])

    def recurse(x):
        return repeat.map(depths, x)

    def loop(x):
        pairs = zip(depths, tf.unstack(x), strict=True)
        return tf.stack([unroll(step, n, row) for n, row in pairs])

    check_same(recurse, loop, rows, *weights)


def check_call(step, x, *weights, depth=3, shape=None):
    """Checks the recursion for one tensor, which may be of a shape less known."""
    x = tf.convert_to_tensor(x)
    repeat = define_repeat(step, x.dtype, x.shape if shape is None else shape)
    check_same(
        lambda x: repeat(depth, x), lambda x: unroll(step, depth, x), x, *weights
    )


def check_same(found, expected, x, *weights):
    """Checks that two functions of x have the same value, and gradients if any."""
    if x.dtype.is_floating or x.dtype.is_complex:
        pairs = [differentiated(f, x, weights) for f in (found, expected)]
    else:
        pairs = [[f(x)] for f in (found, expected)]
    for one, other in zip(*pairs, strict=True):
        assert_close(one, other)


def differentiated(function, x, weights=()):
    """Returns y = function(x), and the gradients of a sum of y by x and the weights."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    # Another factor for each element: none may be taken for another.
    upstream = tf.reshape(tf.range(1, tf.size(y) + 1), tf.shape(y))
    sources = [x, *weights]
    return [y, *tape.gradient(y, sources, output_gradients=tf.cast(upstream, y.dtype))]


def assert_close(found, expected):
    """Asserts that two tensors, or two None, are the same up to rounding."""
    if expected is None:
        assert found is None
        return
    found, expected = tf.convert_to_tensor(found), tf.convert_to_tensor(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    tolerance = TOLERANCES.get(expected.dtype, 1e-5)
    if not (expected.dtype.is_floating or expected.dtype.is_complex):
        np.testing.assert_array_equal(found, expected)
        return
    wide = tf.complex128 if expected.dtype.is_complex else tf.float64
    np.testing.assert_allclose(
        tf.cast(found, wide), tf.cast(expected, wide), rtol=tolerance, atol=tolerance
    )
