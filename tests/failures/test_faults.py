"""Whatever fails, one error says where, nothing is left, and the next step is right.

A fault is planted at each point of a step: the first activation, the second, ..., the
first launch, ..., in values and gradients. `--faults=0` takes every point of every
program; by default it is a sample, another each run.
"""

import random
import re

import numpy as np
import pytest
import tensorflow as tf

from tests.failures.fault_programs import PROGRAMS
from tests.helpers.faults import KINDS, assert_nothing_lives, count, counted, planted

pytestmark = pytest.mark.every_executor

CAUSES = "a test planted this fault|there is no memory"
# Where a body or a block runs forward, an invocation is named. A block's gradient runs
# for launches, whose invocations are gone; and what the root does is of no invocation.
PATH = r"SubGraph '\w+' failed at \w+(\[row \d+\])?( → \S+)*"
PLACES = rf"{PATH}|SubGraph '\w+' failed in the gradient of block|SubGraph '\w+' failed"


@pytest.fixture(scope="module", params=PROGRAMS)
def step(request, executor):
    """Returns a function to values and gradients, which has run before."""
    step = PROGRAMS[request.param]()
    for _ in range(3):
        step()
    return step


@pytest.fixture
def points(request):
    """Returns a function from a number of points to those where faults are planted."""
    most = request.config.option.faults
    seed = request.config.option.programs_seed

    def choose(number):
        every = range(1, number + 1)
        if not 0 < most < number:
            return every
        return random.Random(seed).sample(every, most)

    return choose


def assert_same(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def outcome(step):
    """Returns what a step gives, and None; or None, and the text of its error."""
    try:
        return step(), None
    except tf.errors.OpError as error:
        return None, str(error)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_is_one_error_and_leaves_nothing(step, kind, points):
    expected = step()
    with counted():
        for nth in points(count(kind, step)):
            with planted(kind, nth) as fault:
                found, error = outcome(step)
            assert_nothing_lives()
            if error is None:
                # Of memory, what was tried again, or is there from before.
                assert kind == "allocation" or not fault.struck, nth
                assert_same(found, expected)
            else:
                assert len(re.findall(CAUSES, error)) == 1, (nth, error)
                assert len(re.findall(PLACES, error)) == 1, (nth, error)
            assert_same(step(), expected)
            assert_nothing_lives()
