"""Gradients by what a root call looks up, if the call is in a branch of a function.

TensorFlow joins the gradients of branches, which are slices here, and zeros there.
"""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

pytestmark = pytest.mark.every_executor

ROWS = [[0.3, 0.2], [0.1, 0.5], [0.4, 0.7]]


def look_up(table, dtype):
    """Returns sin(sin(x t[1]) t[0]), as a recursion."""
    with rtf.SubGraph("look_up", output_signature=tf.TensorSpec([2])) as f:
        n, x = f.input(dtype), f.input(tf.TensorSpec([2]))
        row = tf.gather(table, n)
        f.output(tf.cond(n < 1, lambda: tf.sin(x * row), lambda: f(n - 1, x * row)))
    return f


def unrolled(table):
    return lambda n, x: tf.sin(x * tf.gather(table, n) * tf.gather(table, n - 1))


def in_a_branch(f, x):
    return tf.cond(x[0] > 0, lambda: f(1, x), lambda: x)


def in_another_branch(f, x):
    return tf.cond(x[0] < 0, lambda: f(1, x), lambda: x)


def in_a_branch_of_a_branch(f, x):
    return tf.cond(x[0] > 0, lambda: in_a_branch(f, x), lambda: 2 * x)


def in_one_of_some(f, x):
    branches = [lambda: x, lambda: f(1, x), lambda: f(2, x)]
    return tf.switch_case(tf.cast(x[0], tf.int32), branches)


def in_a_loop(f, x):
    turn = lambda i, x: (i + 1, in_a_branch(f, x))  # noqa: E731
    return tf.while_loop(lambda i, x: i < 2, turn, [0, x])[1]


PLACES = [
    in_a_branch,
    in_another_branch,
    in_a_branch_of_a_branch,
    in_one_of_some,
    in_a_loop,
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_a_table_that_one_branch_looks_up_in(place, dtype):
    table = tf.Variable(ROWS)

    @tf.function
    def gradient(f):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(place(f, tf.constant([1.0, 2.0])) ** 2)
        return tape.gradient(loss, table, unconnected_gradients="zero")

    found, expected = (
        tf.convert_to_tensor(gradient(f))
        for f in (look_up(table, dtype), unrolled(table))
    )
    np.testing.assert_allclose(found, expected, rtol=1e-5)
