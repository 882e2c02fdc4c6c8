"""A cancelled step stops, and what comes after it works."""

import threading
import time

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import cancellation  # noqa: TID251

import recursive_tf as rtf
from tests.helpers.failures import message_of
from tests.helpers.subgraphs import define_fib, define_fragile_walk

pytestmark = pytest.mark.every_executor


class Cancelled(threading.Thread):
    """Runs a function in a step of its own, which is cancelled once it is going.

    Attributes:
        invocations: How many invocations there were.
        error: What the step raised.
    """

    def __init__(self, define):
        super().__init__(daemon=True)
        self.invocations = 0
        self.error = None
        self._going = threading.Event()
        self._run_step = tf.function(lambda: define(self._count))

    def run(self):
        manager = cancellation.CancellationManager()
        step = manager.get_cancelable_function(self._run_step.get_concrete_function())
        threading.Thread(target=self._cancel, args=(manager,)).start()
        try:
            step()
        except tf.errors.OpError as error:
            self.error = error

    def _cancel(self, manager):
        self._going.wait(20)
        manager.start_cancel()

    def _count(self, n):
        self.invocations += 1
        if self.invocations > 20:
            self._going.set()
        time.sleep(0.001)
        return n


def endless_chain(count):
    with rtf.SubGraph("f", options=rtf.Options(max_depth=None)) as f:
        n = f.input(tf.int32)
        m = tf.ensure_shape(tf.numpy_function(count, [n], tf.int32), [])
        f.output(tf.cond(m < 0, lambda: m, lambda: f(m + 1)))
    return f(0)


def endless_loop(count):
    with rtf.SubGraph("f") as f:
        f.output(tf.numpy_function(count, [f.input(tf.int32)], tf.int32))
    turn = lambda k: (tf.ensure_shape(f(k), []),)  # noqa: E731
    return tf.while_loop(lambda k: k > -1, turn, (0,))[0]


@pytest.mark.falls_back("a Python function")
@pytest.mark.parametrize("define", [endless_chain, endless_loop])
def test_a_cancelled_step_stops(define):
    step = Cancelled(define)
    step.start()
    step.join(timeout=20)
    assert not step.is_alive()
    assert isinstance(step.error, tf.errors.CancelledError)


@pytest.mark.falls_back("a Python function")
def test_a_cancelled_step_starts_no_more_invocations():
    step = Cancelled(endless_chain)
    step.start()
    step.join(timeout=20)
    at_the_end = step.invocations
    time.sleep(0.1)
    assert step.invocations == at_the_end


def test_a_call_after_a_cancelled_step_works():
    fib = define_fib()
    concrete = tf.function(lambda n: fib(n)).get_concrete_function(
        tf.TensorSpec([], tf.int32)
    )
    manager = cancellation.CancellationManager()
    manager.start_cancel()
    cancelled = manager.get_cancelable_function(concrete)
    with pytest.raises(tf.errors.CancelledError):
        cancelled(tf.constant(20))
    assert int(concrete(tf.constant(20))) == 6765


def test_results_after_errors_are_exact():
    walk = define_fragile_walk(fails_at=6)
    for _ in range(3):
        message_of(lambda: walk.map([1, 2, 3]), tf.errors.InvalidArgumentError)
    np.testing.assert_array_equal(walk.map([2, 4, 7, 8]), [4, 2, 2, 1])


# --- In the middle of a pass


# By executor: each pass takes some tenths of a second, if nobody stops it.
LONG = {"dataflow": 30_000, "auto": 300_000}


class LongStep:
    """A step of a long chain, forward and back, which says where it is.

    Attributes:
        reached: An event for each pass, set when it begins.
    """

    def __init__(self, length):
        self._length = length
        self.reached = {name: threading.Event() for name in ("forward", "backward")}
        self._w = tf.Variable(1.0, dtype=tf.float64)
        options = rtf.Options(max_depth=length + 1)
        with rtf.SubGraph("chain", options=options) as chain:
            n = chain.input(tf.int32)
            more = lambda: self._w * chain(n - 1)  # noqa: E731
            chain.output(tf.cond(n < 1, lambda: tf.ones([], tf.float64), more))
        self._chain = chain
        spec = [tf.TensorSpec([], tf.int32)]
        self.function = tf.function(self._step, spec).get_concrete_function()

    def _step(self, n):
        n = self._begin("forward", n)
        with tf.GradientTape() as tape:
            y = self._chain(n)
        upstream = self._begin("backward", y)
        return tape.gradient(y, self._w, output_gradients=upstream)

    def _begin(self, name, value):
        def begin(x):
            self.reached[name].set()
            return x

        return tf.ensure_shape(tf.numpy_function(begin, [value], value.dtype), [])

    def cancelled_in(self, name):
        """Runs the step, and cancels it once a pass is going."""
        for event in self.reached.values():
            event.clear()
        manager = cancellation.CancellationManager()

        def cancel():
            self.reached[name].wait(60)
            time.sleep(0.02)
            manager.start_cancel()

        thread = threading.Thread(target=cancel)
        thread.start()
        try:
            manager.get_cancelable_function(self.function)(tf.constant(self._length))
        finally:
            thread.join()


@pytest.mark.parametrize("name", ["forward", "backward"])
def test_a_pass_that_is_cancelled_in_its_middle_ends_there(executor, name):
    step = LongStep(LONG[executor])
    for _ in range(3):
        with pytest.raises(tf.errors.CancelledError):
            step.cancelled_in(name)
        assert step.reached["backward"].is_set() == (name == "backward")
        assert float(step.function(tf.constant(7))) == 7
