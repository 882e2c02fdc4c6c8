"""Branches that only call, or only return what is there: nothing of them is run.

They return all of what the call gives, a part of it, or that in another order; they
stand alone, or beside others.
"""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

pytestmark = pytest.mark.every_executor

W, LAST = 0.5, 6
BOTH = (tf.TensorSpec([], tf.float64), tf.TensorSpec([], tf.float64))


def oracle(n, w):
    """Returns two numbers of n."""
    a, b = (0.0, 1.0) if n < 1 else oracle(n - 1, w)
    first = float(n) if n < 2 else oracle(n - 2, w)[0]
    second = -1.0 if n < 2 else oracle(n - 2, w)[1]
    x, y = (2.0, 3.0) if n < 3 else oracle(n - 3, w)[::-1]
    return np.tanh(a + w * second + x), np.tanh(b + w * first - y)


def double(x):
    return tf.constant(x, tf.float64)


def define(w, memo):
    key = (lambda n: n) if memo else None
    with rtf.SubGraph("pair", output_signature=BOTH, memo=key) as pair:
        n = pair.input(tf.int32)
        as_double = tf.cast(n, tf.float64)
        a, b = tf.cond(n < 1, lambda: (double(0.0), double(1.0)), lambda: pair(n - 1))
        first = tf.cond(n < 2, lambda: as_double, lambda: pair(n - 2)[0])
        second = tf.cond(n < 2, lambda: double(-1.0), lambda: pair(n - 2)[1])
        x, y = tf.cond(
            n < 3, lambda: (double(2.0), double(3.0)), lambda: pair(n - 3)[::-1]
        )
        pair.output((tf.tanh(a + w * second + x), tf.tanh(b + w * first - y)))
    return pair


@pytest.mark.parametrize("memo", [False, True])
def test_values_and_slopes(memo):
    w = tf.Variable(double(W))
    pair = define(w, memo)
    numbers = list(range(LAST + 1))
    with tf.GradientTape() as tape:
        found = pair.map(tf.constant(numbers))
        total = tf.reduce_sum(found[0]) + 2 * tf.reduce_sum(found[1])
    np.testing.assert_allclose(
        np.transpose(found), [oracle(n, W) for n in numbers], rtol=1e-12
    )

    def total_at(w):
        return sum(a + 2 * b for a, b in (oracle(n, w) for n in numbers))

    step = 1e-6
    slope = (total_at(W + step) - total_at(W - step)) / (2 * step)
    np.testing.assert_allclose(tape.gradient(total, w), slope, rtol=1e-7)


@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("memo", [False, True])
def test_a_part_of_a_call_in_the_only_conditional(part, memo):
    w = tf.Variable(double(W))
    pair = define(w, memo)
    with rtf.SubGraph("one") as one:
        n = one.input(tf.int32)
        one.output(tf.cond(n < 0, lambda: double(7.0), lambda: pair(n)[part]))
    numbers = [-1, 3, 0, 5]
    expected = [7.0 if n < 0 else oracle(n, W)[part] for n in numbers]
    np.testing.assert_allclose(one.map(tf.constant(numbers)), expected, rtol=1e-12)
