"""Steps of several functions in 32 threads, in both executors, are right.

And they leave nothing. `--steps=N` takes N of them.
"""

import random

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.failures.fault_programs import PROGRAMS
from tests.helpers.faults import assert_nothing_lives, counted
from tests.helpers.figures import tell
from tests.helpers.threads import run_in_threads

pytestmark = pytest.mark.stress

THREADS = 32
EXECUTORS = ("dataflow", "batched")


def assert_same(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def failing(executor):
    """Returns a function that fails in the third of its calls."""
    with rtf.SubGraph("failing", executor=executor) as failing:
        n = failing.input(tf.int32)
        tf.debugging.assert_greater(n, 2, "it is small")
        failing.output(tf.cond(n < 1, lambda: n, lambda: failing(n - 1)))
    return tf.function(lambda: failing(4))


def fails(step):
    """Returns whether a step failed as it has to, with the path."""
    try:
        step()
    except tf.errors.InvalidArgumentError as error:
        return "SubGraph 'failing' failed at failing → call#0 → call#0" in str(error)
    return False


@pytest.fixture(scope="module")
def steps():
    """Returns functions to values and gradients, with what these are."""
    found = []
    for executor in EXECUTORS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(rtf.SubGraph.__init__.__kwdefaults__, "executor", executor)
            for define in PROGRAMS.values():
                step = define()
                found.append((step, step()))
    return found


def test_steps_in_flight_are_right_and_leave_nothing(steps, request):
    each = -(-request.config.option.steps // THREADS)
    failing_steps = [failing(executor) for executor in EXECUTORS]

    def work(thread):
        rng = random.Random(thread)
        for _ in range(each):
            step, expected = rng.choice(steps)
            assert_same(step(), expected)
            if rng.randrange(4) == 0:
                assert fails(rng.choice(failing_steps))
        return True

    with counted():
        assert all(run_in_threads(work, THREADS))
        assert_nothing_lives()
    tell(f"{each * THREADS} steps of {len(steps)} functions in {THREADS} threads")
