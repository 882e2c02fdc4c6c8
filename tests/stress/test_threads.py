"""Root calls from many Python threads are right, and none waits for another's."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.threads import run_in_threads

pytestmark = [pytest.mark.every_executor, pytest.mark.stress]

THREADS = 16
CALLS = 10
SIZE = 3


def define_power(w):
    """Returns a SubGraph from n and x to w^n x, in a tree: n is split in halves."""
    with rtf.SubGraph("power") as power:
        n, x = power.input(tf.int32), power.input(tf.float64, [SIZE])

        def halves():
            return power(n - n // 2, power(n // 2, x))

        one = lambda: tf.linalg.matvec(w, x)  # noqa: E731
        power.output(
            tf.cond(n < 1, lambda: x, lambda: tf.cond(tf.equal(n, 1), one, halves))
        )
    return power


def by_hand(w, n, x):
    """Returns sum(w^n x), and its gradients by w and by x."""
    states = [x]
    for _ in range(n):
        states.append(w @ states[-1])
    upstream, by_w = np.ones(SIZE), np.zeros_like(w)
    for state in reversed(states[:-1]):
        by_w += np.outer(upstream, state)
        upstream = w.T @ upstream
    return [states[-1].sum(), by_w, upstream]


@pytest.fixture(scope="module")
def step(executor):
    """Returns a function of n and x to what by_hand() returns, and the matrix."""
    w = tf.Variable(np.random.default_rng(0).normal(size=[SIZE, SIZE]) / 2)
    power = define_power(w)

    @tf.function
    def step(n, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(power(n, x))
        return [y, *tape.gradient(y, [w, x])]

    step(tf.constant(0), tf.zeros([SIZE], tf.float64))  # It is traced here.
    return step, w.numpy()


def assert_right(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_one_function_has_right_values_and_gradients_in_all_threads(step):
    function, w = step

    def work(i):
        rng = np.random.default_rng(i)
        for k in range(CALLS):
            n, x = (i * CALLS + k) % 40, rng.normal(size=SIZE)
            assert_right(function(tf.constant(n), tf.constant(x)), by_hand(w, n, x))
        return True

    assert all(run_in_threads(work, THREADS))


def test_tapes_in_all_threads_have_right_gradients(step):
    """Outside of a function: each tape holds its root call's values for a while."""
    _, w = step
    variable = tf.Variable(w)
    power = define_power(variable)

    def work(i):
        xs = [tf.constant(np.random.default_rng(i + k).normal(size=3)) for k in (0, 1)]
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(xs)
            ys = [tf.reduce_sum(power(i, x)) for x in xs]
        for x, y in reversed(list(zip(xs, ys, strict=True))):
            found = [y, *tape.gradient(y, [variable, x])]
            assert_right(found, by_hand(w, i, x.numpy()))
        return True

    assert all(run_in_threads(work, THREADS))


def test_functions_that_are_traced_in_all_threads_are_right():
    def work(i):
        w = tf.Variable(np.eye(SIZE) * (i + 1))
        power = define_power(w)
        return float(tf.function(lambda: power(2, tf.ones(SIZE, tf.float64)))()[0])

    assert run_in_threads(work, THREADS) == [(i + 1.0) ** 2 for i in range(THREADS)]
