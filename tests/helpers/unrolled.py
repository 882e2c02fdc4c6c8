"""A recursion held to the loop in plain TensorFlow that it unrolls to."""

import functools

import numpy as np
import tensorflow as tf

import recursive_tf as rtf

# What two ways to compute the same may differ by.
TOLERANCES = {tf.float16: 1e-2, tf.bfloat16: 5e-2, tf.float64: 1e-12}


def define_repeat(step, spec=tf.float32, shape=None, **choices):
    """Returns the SubGraph f(n, x): x where n is 0, and else step(f(n - 1, x), n)."""
    shapes = () if shape is None else (shape,)
    with rtf.SubGraph("repeat", **choices) as repeat:
        n, x = repeat.input(tf.int32), repeat.input(spec, *shapes)
        repeat.output(tf.cond(n < 1, lambda: x, lambda: step(repeat(n - 1, x), n)))
    return repeat


def unroll(step, n, x):
    """Returns the same, by a loop."""
    for level in range(1, n + 1):
        x = step(x, tf.constant(level))
    return x


def check_rows(step, rows, *weights, depths=(3, 0, 2), order=2):
    """Checks the recursion for rows that go unlike deep: values, and gradients if any.

    Args:
        step: A function of a row and of n.
        rows: `[len(depths), ...]`.
        *weights: Variables and tensors that have gradients, too.
        depths: An n for each row.
        order: Of the highest derivatives that are checked.
    """
    rows = tf.convert_to_tensor(rows)
    repeat = define_repeat(step, rows.dtype, rows.shape[1:])

    def recurse(x):
        return repeat.map(depths, x)

    def loop(x):
        pairs = zip(depths, tf.unstack(x), strict=True)
        return tf.stack([unroll(step, n, row) for n, row in pairs])

    check_same(recurse, loop, rows, *weights, order=order)


def check_call(step, x, *weights, depth=3, shape=None, order=2):
    """Checks the recursion for one tensor, which may be of a shape less known."""
    x = tf.convert_to_tensor(x)
    repeat = define_repeat(step, x.dtype, x.shape if shape is None else shape)

    def recurse(x):
        return repeat(depth, x)

    def loop(x):
        return unroll(step, depth, x)

    check_same(recurse, loop, x, *weights, order=order)


def check_same(found, expected, x, *weights, order=2):
    """Checks that two functions of x have the same value, and derivatives if any."""
    ways = [lambda function: [function(x)]]
    if x.dtype.is_floating or x.dtype.is_complex:
        ways = [differentiated, differentiated_twice][:order]
        ways = [functools.partial(way, x=x, weights=weights) for way in ways]
    for way in ways:
        for one, other in zip(way(found), way(expected), strict=True):
            assert_close(one, other)


def differentiated(function, x, weights=()):
    """Returns y = function(x), and the gradients of a sum of y by x and the weights."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    sources = [x, *weights]
    return [y, *tape.gradient(y, sources, output_gradients=_factors(y))]


def differentiated_twice(function, x, weights=()):
    """Returns the gradients of a sum of those gradients, and by the factors of y."""
    sources = [x, *weights]
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            for tape in (outer, inner):
                tape.watch([t for t in sources if isinstance(t, tf.Tensor)])
            y = function(x)
        factors = _factors(y)
        outer.watch(factors)
        gradients = inner.gradient(y, sources, output_gradients=factors)
        dense = [tf.convert_to_tensor(g) for g in gradients if g is not None]
        total = sum(tf.reduce_sum(g * _factors(g)) for g in dense)
    if not dense:
        return []
    return outer.gradient(total, [*sources, factors], unconnected_gradients="zero")


def _factors(tensor):
    """Returns another factor for each element: none may be taken for another."""
    numbers = tf.range(1, tf.size(tensor) + 1)
    return tf.cast(tf.reshape(numbers, tf.shape(tensor)), tensor.dtype)


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
