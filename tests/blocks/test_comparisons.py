"""Comparisons of numbers, and what they choose."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.close import assert_all_close


def test_kept_bools_are_bools():
    """A choice by rows of numbers keeps its condition for the gradient."""
    rows = tf.random.stateless_normal([5, 6], [1, 2])
    found = []
    for blocks in ("compiled", "tensorflow"):
        options = rtf.Options(blocks=blocks)
        with rtf.SubGraph("f", executor="batched", options=options) as f:
            x = f.input(tf.TensorSpec([6]))
            f.output(tf.where(x * x > 0.3, tf.sin(x), x), x < 0.0)
        explanation = rtf.explain(f)
        with tf.GradientTape() as tape:
            tape.watch(rows)
            value, is_negative = f.map(rows)
        assert is_negative.dtype == tf.bool
        np.testing.assert_array_equal(is_negative, rows < 0.0)
        found.append([value, tape.gradient(value, rows)])
        assert (explanation.not_compiled == {}) == (blocks == "compiled")
    for one, other in zip(*found, strict=True):
        assert_all_close(one, other, rtol=1e-6, atol=1e-6)


SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.0]


@pytest.mark.parametrize(
    "compare",
    [tf.less, tf.less_equal, tf.greater, tf.greater_equal, tf.equal, tf.not_equal],
)
def test_comparisons_with_nan_and_infinity(compare):
    left = tf.constant(SPECIAL)[:, None] + tf.zeros([1, len(SPECIAL)])
    right = tf.transpose(left)
    with rtf.SubGraph("f", executor="batched") as f:
        a, b = f.input(tf.TensorSpec([7])), f.input(tf.TensorSpec([7]))
        is_so = compare(a, b)
        f.output(tf.where(is_so, 1.0, 2.0), tf.sign(a), tf.cast(is_so, tf.float32))
    explanation = rtf.explain(f)
    chosen, sign, number = f.map(left, right)
    assert explanation.not_compiled == {}
    np.testing.assert_array_equal(chosen, tf.where(compare(left, right), 1.0, 2.0))
    np.testing.assert_array_equal(sign, tf.sign(left))
    np.testing.assert_array_equal(number, tf.cast(compare(left, right), tf.float32))
