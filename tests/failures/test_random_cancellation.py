"""Steps that end at random moments leave nothing behind.

After hundreds of them results are right, nothing hangs, and memory is as before.
"""

import random
import threading
import time

import pytest
import tensorflow as tf
from tensorflow.python.eager import cancellation  # noqa: TID251

import recursive_tf as rtf
from tests.helpers.figures import tell
from tests.helpers.memory import IS_WATCHED, MEGABYTE, resident_memory
from tests.helpers.threads import run_in_threads

pytestmark = [pytest.mark.every_executor, pytest.mark.stress]

CANCELLATIONS = 200
SECONDS = 20  # To end in, for a hang; how long it takes is printed.
LEVELS = 9  # So that a step takes tens of milliseconds, forward and back.
EXPECTED = 2.0**LEVELS, LEVELS * 2.0**LEVELS


def define_tree(w):
    """Returns a SubGraph from n to (2 w)^n, in as many invocations."""
    with rtf.SubGraph("tree") as tree:
        n = tree.input(tf.int32)
        more = lambda: w * (tree(n - 1) + tree(n - 1))  # noqa: E731
        tree.output(tf.cond(n < 1, lambda: 1.0, more))
    return tree


@pytest.fixture(scope="module")
def step(executor):
    """Returns a function of the number of levels to the value and the gradient."""
    w = tf.Variable(1.0)
    tree = define_tree(w)

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def step(n):
        with tf.GradientTape() as tape:
            y = tree(n)
        return y, tape.gradient(y, w)

    return step


@pytest.fixture(scope="module")
def seconds(step):
    """Returns how long a step takes, on a machine as busy as it is."""
    step(LEVELS)
    start = time.monotonic()
    for _ in range(3):
        step(LEVELS)
    return (time.monotonic() - start) / 3


def assert_healthy(step):
    assert tuple(map(float, step(LEVELS))) == EXPECTED


def cancel_after(function, delay):
    """Runs a concrete function, and cancels it after a delay in seconds.

    Returns:
        The seconds from then to its end; None if it was not cancelled before that.
    """
    manager = cancellation.CancellationManager()
    began = []

    def cancel():
        began.append(time.monotonic())
        manager.start_cancel()

    timer = threading.Timer(delay, cancel)
    timer.start()
    try:
        found = manager.get_cancelable_function(function)(tf.constant(LEVELS))
    except tf.errors.CancelledError:
        # TensorFlow has one manager for all threads, so it may have been another's.
        return time.monotonic() - began[0] if began else 0.0
    finally:
        timer.join()
    assert tuple(map(float, found)) == EXPECTED
    return None


def report(what, seconds):
    """Prints how long steps took to end once they were cancelled; none may hang."""
    ordered = sorted(seconds)
    assert ordered[-1] < SECONDS
    late = ordered[len(ordered) * 99 // 100]
    tell(
        f"{what}: {len(ordered)} times, "
        f"99% end within {1000 * late:.1f} ms, all within {1000 * ordered[-1]:.1f} ms"
    )


def test_steps_that_are_cancelled_at_random_moments_leave_nothing(step, seconds, times):
    rng = random.Random(0)
    function = step.get_concrete_function()

    def cancel(count):
        took = []
        while len(took) < count:
            ended = cancel_after(function, rng.uniform(0, seconds))
            took += [] if ended is None else [ended]
        return took

    cancel(CANCELLATIONS // 4)
    warm = resident_memory()
    report("cancelled steps", cancel(times(CANCELLATIONS)))
    assert_healthy(step)
    if not IS_WATCHED:
        assert resident_memory() - warm < 30 * MEGABYTE


def test_steps_that_are_cancelled_in_threads_leave_nothing(step, seconds, times):
    function = step.get_concrete_function()

    def work(i):
        rng = random.Random(i)
        count = times(CANCELLATIONS) // 8
        delays = [rng.uniform(0, 4 * seconds) for _ in range(count)]
        took = [cancel_after(function, delay) for delay in delays]
        return [each for each in took if each is not None]

    assert sum(len(took) for took in run_in_threads(work, 8)) > 0
    assert_healthy(step)


def test_a_sibling_that_fails_ends_a_step_at_a_random_moment(step, seconds, times):
    rng = random.Random(1)

    def fail_after(delay):
        time.sleep(float(delay))
        raise RuntimeError("a sibling")

    @tf.function(input_signature=[tf.TensorSpec([], tf.float64)])
    def both(delay):
        failing = tf.numpy_function(fail_after, [delay], tf.float32, stateful=False)
        return step(LEVELS)[1] + failing

    for _ in range(times(CANCELLATIONS) // 4):
        with pytest.raises(tf.errors.OpError, match="a sibling"):
            both(tf.constant(rng.uniform(0, seconds), tf.float64))
    assert_healthy(step)


def test_pipelines_that_are_dropped_at_random_moments_leave_nothing(
    step, seconds, times
):
    rng = random.Random(2)
    numbers = tf.data.Dataset.range(LEVELS + 1).repeat()
    mapped = numbers.map(lambda n: step(tf.cast(n, tf.int32)), num_parallel_calls=4)
    took = []
    for _ in range(times(CANCELLATIONS) // 4):  # Each makes kernels anew.
        iterator = iter(mapped.prefetch(2))
        value, gradient = next(iterator)
        assert (float(value), float(gradient)) == (1.0, 0.0)
        time.sleep(rng.uniform(0, seconds))
        start = time.monotonic()
        del iterator
        took.append(time.monotonic() - start)
    report("iterators that are dropped", took)
    assert_healthy(step)
