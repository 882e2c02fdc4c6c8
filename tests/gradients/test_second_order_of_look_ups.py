"""Gradients of gradients of look-ups, which are slices."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.derivatives import slopes_of_slope
from tests.helpers.powers import BOTH_WAYS, X

pytestmark = pytest.mark.every_executor


def looking_up(table):
    """Returns the SubGraph n -> the product of rows n % 2 of a table, down to 0."""
    with rtf.SubGraph("looking_up") as f:
        n = f.input(tf.int32)
        f.output(
            tf.cond(n < 1, lambda: 1.0, lambda: tf.gather(table, n % 2) * f(n - 1))
        )
    return f


A, B = 0.5, 1.5


@BOTH_WAYS
def test_look_ups_of_one_row_again_and_again(way):
    """Of a^2 b^2, the sum over both derivatives, by a and by b."""
    table = tf.Variable([A, B])
    f = looking_up(table)

    @way
    def second():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = f(4)
            slopes = inner.gradient(y, table)
            # Eagerly, a tape within a tape makes it dense.
            assert isinstance(slopes, tf.IndexedSlices) == (way is tf.function)
            total = tf.reduce_sum(tf.convert_to_tensor(slopes))
        return tf.convert_to_tensor(outer.gradient(total, table))

    expected = [2 * B**2 + 4 * A * B, 2 * A**2 + 4 * A * B]
    np.testing.assert_allclose(second(), expected, rtol=1e-5)


def test_slices_may_be_used_each_by_itself():
    """There is one for each row."""
    table = tf.Variable([A, B])
    f = looking_up(table)

    @tf.function
    def second(factors):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = f(4)
            slopes = inner.gradient(y, table)
            total = tf.reduce_sum(slopes.values * tf.gather(factors, slopes.indices))
        return tf.convert_to_tensor(outer.gradient(total, table))

    factors = np.array([3.0, -2.0], np.float32)
    curvature = np.array([[2 * B**2, 4 * A * B], [4 * A * B, 2 * A**2]])
    np.testing.assert_allclose(second(factors), curvature @ factors, rtol=1e-5)


def test_a_table_of_constants_beside_a_weight(w, x):
    """A resource that is no variable, which TensorFlow cannot hand out of functions."""
    keys, values = tf.range(5), tf.range(5.0)
    entries = tf.lookup.KeyValueTensorInitializer(keys, values)
    known = tf.lookup.StaticHashTable(entries, 0.0)
    with rtf.SubGraph("known") as f:
        y, n = f.input(tf.float32), f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: y, lambda: known.lookup(n) * f(y * y, n - 1)))
    found = slopes_of_slope(lambda x: f(x, 2), x, x)
    np.testing.assert_allclose(found, 2 * 12 * X**2, rtol=1e-5)
