"""Sums of 16-bit numbers are as accurate in both executors as in TensorFlow."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

COUNT = 1000
BOTH = pytest.mark.parametrize("executor_name", ["dataflow", "batched"])
NARROW = pytest.mark.parametrize("dtype", [tf.bfloat16, tf.float16])


def ones(n, dtype):
    """Returns a list of ones."""
    return tf.cast(tf.range(n) * 0 + 1, dtype)


# Each takes a list of ones, and a number, 1, of the activation.
SUMS = {
    "sum": (lambda items, _: tf.reduce_sum(items), COUNT),
    "sum of rows": (
        lambda items, _: tf.reduce_sum(items[:, tf.newaxis] * [[0.5, 0.5]]),
        COUNT,
    ),
    "mean": (lambda items, _: tf.reduce_mean(items), 1.0),
    "log of a sum": (
        lambda items, _: tf.reduce_logsumexp(items),
        1.0 + np.log(COUNT),
    ),
    "products": (
        lambda items, _: tf.linalg.matvec(
            items[:, tf.newaxis], items, transpose_a=True
        )[0],
        COUNT,
    ),
    "softmax": (lambda items, _: tf.reduce_sum(tf.nn.softmax(items)), 1.0),
}


def define(function, dtype, executor):
    with rtf.SubGraph("f", executor=executor) as f:
        n, x = f.input(tf.int32), f.input(dtype)
        f.output(function(ones(n, dtype) * x, x))
    return f


@NARROW
@BOTH
@pytest.mark.parametrize("case", SUMS.values(), ids=SUMS)
def test_what_is_made_of_all_items(case, executor_name, dtype):
    function, expected = case
    y = define(function, dtype, executor_name)(COUNT, tf.ones([], dtype))
    np.testing.assert_allclose(tf.cast(y, tf.float32), expected, rtol=2e-2)


@NARROW
@BOTH
def test_the_gradient_of_what_all_items_use(executor_name, dtype):
    f = define(lambda items, x: tf.reduce_sum(items + x), dtype, executor_name)
    x = tf.ones([1], dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f.map([COUNT], x)
    gradient = tf.cast(tape.gradient(y, x), tf.float32)
    np.testing.assert_allclose(gradient, [2 * COUNT], rtol=1e-2)
