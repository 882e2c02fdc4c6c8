"""What runs at once: calls of a body, rows of a map, steps."""

import threading

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.subgraphs import define_fib, define_power
from tests.helpers.threads import run_in_threads
from tests.helpers.tracing import INT, trace, trace_gradient


def meet(parties):
    """Returns a function that waits until that many calls of it run at once."""
    barrier = threading.Barrier(parties, timeout=20)

    def wait(n):
        barrier.wait()
        return n

    def op(n):
        met = tf.numpy_function(wait, [n], tf.int32, stateful=False)
        return tf.ensure_shape(met, [])

    return op


@pytest.mark.executor("dataflow")
def test_two_calls_of_one_body_run_at_once():
    assert int(define_fib(leaf=meet(2))(2)) == 1


@pytest.mark.executor("dataflow")
def test_calls_in_different_branches_of_the_tree_run_at_once():
    with rtf.SubGraph("f") as f:
        depth, n = f.input(tf.int32), f.input(tf.int32)
        # The left child goes down, the right one waits for it to get there.
        left = lambda: f(depth - 1, n)  # noqa: E731
        wait = meet(2)
        both = lambda: tf.cond(  # noqa: E731
            tf.equal(depth, 3), lambda: left() + wait(n), left
        )
        f.output(tf.cond(depth < 1, lambda: wait(n + 1), both))
    assert int(f(3, 10)) == 21


@pytest.mark.executor("dataflow")
def test_rows_of_a_map_run_at_once():
    wait = meet(2)
    with rtf.SubGraph("f") as f:
        f.output(wait(f.input(tf.int32)))
    assert f.map([5, 7]).numpy().tolist() == [5, 7]


@pytest.mark.executor("dataflow")
def test_steps_of_two_threads_are_in_flight_at_once():
    fib = define_fib(leaf=meet(2))
    with rtf.SubGraph("f") as f:
        f.output(fib(f.input(tf.int32)))
    concrete = trace(f, INT)
    assert run_in_threads(lambda _: int(concrete(tf.constant(1))), 2) == [1, 1]


def test_steps_in_flight_do_not_meet():
    fib = trace(define_fib(), INT)
    expected = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]

    def steps(_):
        return [int(fib(tf.constant(n))) for n in range(12) for _ in range(5)]

    found = run_in_threads(steps, 8)
    assert found == [[x for x in expected for _ in range(5)]] * 8


def test_training_steps_in_flight_do_not_meet():
    weight = tf.Variable(2.0)
    gradient = trace_gradient(weight, define_power(weight))

    def steps(n):
        args = tf.constant(n), tf.constant(1.0)
        return [float(gradient(*args)) for _ in range(30)]

    found = run_in_threads(steps, 8)
    expected = [[n * 2 ** (n - 1) if n else 0] * 30 for n in range(8)]
    np.testing.assert_allclose(found, expected)


def test_a_subgraph_is_first_called_by_many_threads():
    fib = define_fib()
    assert run_in_threads(lambda _: int(fib(12)), 8) == [144] * 8
