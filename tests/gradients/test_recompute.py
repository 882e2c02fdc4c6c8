"""`tf.recompute_grad` in a body: what it wraps keeps nothing for the gradient."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.resident import in_use_bytes

UNITS = 1 << 14
FLOAT_BYTES = 4
DEPTH = 50
STEPS = 8


def deep(y):
    for _ in range(STEPS):
        y = tf.sin(y) * 1.01
    return y


def vectors_kept(function, x):
    """Returns how many vectors each invocation keeps, and the gradient."""
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: x, lambda: function(f(n - 1))))
    with tf.GradientTape() as tape:
        tape.watch(x)
        f(tf.constant(1))
    with tf.GradientTape() as tape:
        tape.watch(x)
        before = in_use_bytes()
        y = f(tf.constant(DEPTH))
        kept = in_use_bytes() - before
    explanation = rtf.explain(f)
    if explanation.executor == "batched":
        # Its memory may be in use before: that of other runs is kept for it.
        kept = explanation.peak_bytes
    return kept / (DEPTH * UNITS * FLOAT_BYTES), tape.gradient(y, x)


@pytest.mark.every_executor
def test_what_is_recomputed_is_not_kept():
    x = tf.linspace(-1.0, 1.0, UNITS)
    kept, expected = vectors_kept(deep, x)
    kept_of_inputs, found = vectors_kept(tf.recompute_grad(deep), x)
    tf.debugging.assert_near(found, expected, rtol=1e-5)
    # The inputs of each sine, and of the whole; and some of the first call.
    assert kept > STEPS - 1
    assert kept_of_inputs < 1.5


@pytest.mark.every_executor
def test_what_is_recomputed_around_eager_calls_has_gradients_of_variables():
    """The second call runs a function that was traced in the first one."""
    w = tf.Variable(2.0)
    with rtf.SubGraph("power") as power:
        n = power.input(tf.int32)
        power.output(tf.cond(n < 1, lambda: 1.0, lambda: w * power(n - 1)))
    recomputed = tf.recompute_grad(lambda: power(3))
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = recomputed()
        assert float(tape.gradient(y, w)) == 12.0
