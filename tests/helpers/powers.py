"""A power by recursion, whose derivatives are known: f(x, n) = (w x)^n."""

import pytest
import tensorflow as tf

import recursive_tf as rtf

W, X, N = 1.5, 0.8, 4
BY_X = N * W**N * X ** (N - 1)
BY_W = N * X**N * W ** (N - 1)
BY_XX = N * (N - 1) * W**N * X ** (N - 2)
BY_XW = N * N * W ** (N - 1) * X ** (N - 1)
BY_WW = N * (N - 1) * X**N * W ** (N - 2)


def power(w, dtype=tf.float32):
    """Returns the SubGraph (x, n) -> (w x)^n."""
    with rtf.SubGraph("power") as f:
        x = f.input(dtype)
        n = f.input(tf.int32)
        f.output(
            tf.cond(n < 1, lambda: tf.ones([], x.dtype), lambda: w * x * f(x, n - 1))
        )
    return f


def eagerly(function):
    return function


BOTH_WAYS = pytest.mark.parametrize("way", [eagerly, tf.function])
