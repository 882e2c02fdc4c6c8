"""Equal programs with gradients of TensorFlow, or with loops that call nothing."""

import gc
import weakref

import numpy as np
import pytest
import tensorflow as tf

from tests.helpers.known_programs import count_down

WAYS = pytest.mark.parametrize("chosen", ["batched", "dataflow"])


@WAYS
def test_programs_with_silu_are_shared_with_the_gradients_of_tensorflow(known, chosen):
    def derivatives(f, value):
        x = tf.constant(value)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            slope = tape.gradient(y, x)
        return [float(t) for t in (y, slope, outer.gradient(slope, x))]

    def defined():
        f = count_down(lambda x: tf.nn.silu(x, 2.0) * x, executor=chosen)
        return lambda x: f(2, x)

    for value in (0.7, -1.5):
        expected = derivatives(lambda x: tf.nn.silu(x, 2.0) * x, value)
        np.testing.assert_allclose(derivatives(defined(), value), expected, rtol=1e-5)
    assert (known.counts().added, known.counts().found) == (1, 1)


def test_beta_of_silu_has_its_gradient(known):
    def by_beta(f):
        beta = tf.Variable(1.5)
        with tf.GradientTape() as tape:
            y = f(beta)
        return float(tape.gradient(y, beta))

    found = by_beta(lambda beta: count_down(lambda x: tf.nn.silu(x, beta))(2, 0.7))
    expected = by_beta(lambda beta: tf.nn.silu(0.7, beta))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert known.counts().added == 1


def test_a_known_program_with_silu_holds_nothing_of_its_model(known):
    def use():
        weight = tf.Variable(3.0)
        f = count_down(lambda x: tf.nn.silu(weight * x))
        with tf.GradientTape() as tape:
            y = f(2, 1.0)
        assert tape.gradient(y, weight) is not None
        return weakref.ref(weight)

    gone = use()
    gc.collect()
    assert gone() is None
    assert known.counts().programs == 1


def powers(factor):
    """Returns a function with a loop that calls nothing, and has branches in it."""

    def step(i, y):
        return i + 1, tf.cond(i < 2, lambda: y * factor, lambda: y + 1.0)

    def make(x):
        start = (tf.constant(0), x)
        return tf.while_loop(lambda i, _: i < 3, step, start)[1]

    return make


@WAYS
def test_programs_with_loops_that_call_nothing_are_shared(known, chosen):
    for _ in range(2):
        f = count_down(powers(3.0), executor=chosen)
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(1, x)
        assert (float(y), float(tape.gradient(y, x))) == (19.0, 9.0)
    assert (known.counts().added, known.counts().found) == (1, 1)


def test_loops_that_differ_in_a_constant_are_not_shared(known):
    assert [float(count_down(powers(c))(1, 2.0)) for c in (3.0, 4.0)] == [19.0, 33.0]
    assert (known.counts().added, known.counts().found) == (2, 0)


def test_a_known_loop_holds_nothing_of_its_model(known):
    def use():
        weight = tf.Variable(3.0)
        assert float(count_down(powers(weight))(1, 2.0)) == 19.0
        return weakref.ref(weight)

    gone = use()
    gc.collect()
    assert gone() is None
    assert known.counts().programs == 1
