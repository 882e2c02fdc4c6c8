"""Gradients through lists of tensors: what `tf.TensorArray` is made of."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of

pytestmark = pytest.mark.every_executor

X = np.array([0.5, -1.5, 2.0], "f")


def product_of(parts, f, n):
    return tf.cond(n < 1, lambda: parts.read(0), lambda: parts.read(n) * f(n - 1))


@pytest.mark.falls_back("a list goes from block to block")
def test_a_list_may_come_into_a_branch():
    with rtf.SubGraph("f") as f:
        n, x = f.input(tf.int32), f.input(tf.float32, [3])
        parts = tf.TensorArray(tf.float32, 3).unstack(2.0 * x)

        def more():
            turn = lambda i, y: (i + 1, y + parts.read(i) * f(n - 1, x))  # noqa: E731
            return tf.while_loop(lambda i, _: i < 3, turn, (0, 0.0))[1]

        f.output(tf.cond(n < 1, lambda: parts.read(1), more))
    x = tf.constant(X)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        found = f(2, x)
        expected = 2.0 * x[1] * (2.0 * tf.reduce_sum(x)) ** 2
    assert abs(found - expected) < 1e-5
    np.testing.assert_allclose(
        tape.gradient(found, x), tape.gradient(expected, x), rtol=1e-5
    )


@pytest.mark.falls_back("a list goes from block to block")
def test_a_list_from_outside_of_a_subgraph_has_no_gradient_and_says_so():
    with rtf.SubGraph("f") as f:
        x = f.input(tf.float32, [3])
        parts = tf.TensorArray(tf.float32, 3).unstack(2.0 * x)
        with rtf.SubGraph("product") as product:
            product.output(product_of(parts, product, product.input(tf.int32)))
        f.output(product(2))
    x = tf.constant(X)
    assert f(x).numpy() == 8 * np.prod(X)

    def slope():
        with tf.GradientTape() as tape:
            tape.watch(x)
            found = f(x)
        return tape.gradient(found, x)

    message = message_of(slope, NotImplementedError)
    assert "test_lists.py:" in message
    assert "has no gradient there: hand in `.stack()` of it" in message


@pytest.mark.falls_back("a list goes from block to block")
def test_a_list_of_integers_from_outside_has_none_to_miss():
    with rtf.SubGraph("f") as f:
        w = f.input(tf.float32)
        parts = tf.TensorArray(tf.int32, 3).unstack([1, 2, 3])
        with rtf.SubGraph("power") as power:
            n = power.input(tf.int32)
            less = lambda: power(n - parts.read(0)) * w  # noqa: E731
            power.output(tf.cond(n < 1, lambda: 1.0, less))
        f.output(power(3))
    w = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(w)
        found = f(w)
    assert tape.gradient(found, w).numpy() == 12
