"""A limit ends all calls in flight at once, cleanly, and the next root call works."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.threads import run_in_threads

pytestmark = [pytest.mark.executor("dataflow"), pytest.mark.stress]

THREADS = 8
LONG = 10**12  # Iterations of a loop that nobody waits for.
LIMITS = {"max_depth": 2_000, "max_activations": 5_000}
# At each level, so that the limit is reached wherever it runs level by level.
CALLS = {"max_depth": 1, "max_activations": 2}

limits = pytest.mark.parametrize("limit", LIMITS)
ways = pytest.mark.parametrize("differentiates", [False, True], ids=["run", "train"])


def options(limit):
    """Returns options with one limit, and no other."""
    return rtf.Options(**{"max_depth": None, limit: LIMITS[limit]})


def define_powers(limit, num_calls, x):
    """Returns a SubGraph from n to x^n, times `num_calls` at every level.

    It has no end where n is negative.
    """
    with rtf.SubGraph("powers", options=options(limit)) as powers:
        n = powers.input(tf.int32)

        def more():
            return x * tf.add_n([powers(n - 1) for _ in range(num_calls)])

        powers.output(tf.cond(tf.equal(n, 0), lambda: 1.0, more))
    return powers


def run(f, n, x, differentiates):
    """Returns f(n), or its derivative by x."""
    if not differentiates:
        return float(f(n))
    with tf.GradientTape() as tape:
        y = f(n)
    return float(tape.gradient(y, x))


def assert_stops(call, limit):
    with pytest.raises(tf.errors.ResourceExhaustedError) as raised:
        call()
    message = str(raised.value)
    assert f"reached {limit}={LIMITS[limit]}" in message
    assert message.count("failed at") == 1


@pytest.mark.every_executor
@ways
@limits
def test_an_endless_recursion_stops_again_and_again(limit, differentiates):
    check_that_it_stops(limit, differentiates, num_calls=1)


@pytest.mark.every_executor
@ways
def test_an_endless_recursion_that_branches_stops_again_and_again(differentiates):
    check_that_it_stops("max_activations", differentiates, num_calls=2)


@ways
def test_the_depth_of_one_that_branches_has_a_limit(differentiates):
    """The batched executor would be out of memory before: it runs level by level."""
    check_that_it_stops("max_depth", differentiates, num_calls=2)


def check_that_it_stops(limit, differentiates, num_calls):
    x = tf.Variable(0.5)
    f = define_powers(limit, num_calls, x)
    expected = 3 * num_calls**3 * 0.25 if differentiates else (num_calls * 0.5) ** 3
    for _ in range(3):
        assert_stops(lambda: run(f, -1, x, differentiates), limit)
        assert run(f, 3, x, differentiates) == expected


@limits
def test_an_endless_row_stops_the_other_rows_in_their_long_loops(limit):
    with rtf.SubGraph("f", options=options(limit)) as f:
        n = f.input(tf.int32)

        def work():
            more = lambda k: k < LONG  # noqa: E731
            start = (tf.constant(0, tf.int64),)
            return tf.cast(tf.while_loop(more, lambda k: (k + 1,), start)[0], tf.int32)

        f.output(tf.cond(n < 0, lambda: f(n - 1), lambda: tf.cond(n > 0, work, zero)))
    assert_stops(lambda: f.map([7, 0, 7, -1]), limit)
    assert f.map([0, 0]).numpy().tolist() == [0, 0]


def zero():
    return tf.constant(0)


@limits
def test_an_endless_row_stops_the_other_rows_in_their_long_recursions(limit):
    """No limit ends these rows: they are never deep, and few calls are alive."""
    with rtf.SubGraph("f", options=options(limit)) as f:
        n = f.input(tf.int32)

        def work():
            start = (tf.constant(0, tf.int64),)
            turn = lambda k: (k + 1 + tf.cast(f(0), tf.int64),)  # noqa: E731
            end = tf.while_loop(lambda k: k < LONG, turn, start)[0]
            return tf.cast(end, tf.int32)

        f.output(tf.cond(n < 0, lambda: f(n - 1), lambda: tf.cond(n > 0, work, zero)))
    assert_stops(lambda: f.map([7, 0, 7, -1]), limit)
    assert f.map([0, 0]).numpy().tolist() == [0, 0]


@pytest.mark.every_executor
@limits
@ways
def test_threads_that_reach_a_limit_do_not_disturb_the_others(limit, differentiates):
    x = tf.Variable(0.5)
    n, num_calls = 6, CALLS[limit]
    f = define_powers(limit, num_calls, x)
    expected = (num_calls * 0.5) ** n * (n / 0.5 if differentiates else 1.0)

    def work(i):
        for _ in range(5):
            if i % 2:
                assert_stops(lambda: run(f, -1, x, differentiates), limit)
            else:
                assert run(f, n, x, differentiates) == expected
        return True

    assert all(run_in_threads(work, THREADS))


@pytest.mark.every_executor
@limits
def test_all_threads_reach_a_limit_at_once(limit):
    x = tf.Variable(0.5)
    f = define_powers(limit, CALLS[limit], x)
    expected = (CALLS[limit] * 0.5) ** 5
    run_in_threads(lambda _: assert_stops(lambda: f(-1), limit), THREADS)
    found = run_in_threads(lambda _: float(f(5)), THREADS)
    np.testing.assert_array_equal(found, expected)
