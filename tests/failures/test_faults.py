"""Whatever fails, one error says where, nothing is left, and the next step is right.

A fault is planted at every point of a step: the first activation, the second, ..., the
first launch, ..., of values and of gradients.
"""

import re

import numpy as np
import pytest
import tensorflow as tf

from tests.failures.fault_programs import PROGRAMS
from tests.helpers.faults import KINDS, assert_nothing_lives, count, counted, planted

pytestmark = [pytest.mark.every_executor, pytest.mark.stress]

CAUSES = "a test planted this fault|there is no memory"
NAME = "(?:tree|value|lists|loops|chain)"
# Where an invocation is named, and where it cannot be: what the root op does is of no
# invocation, and those of a launch may have ended when it fails, and have when its
# gradient runs.
PATH = rf"SubGraph '{NAME}' failed at {NAME}(?:\[row \d+\])?(?: → \S+)*"
ROOT = rf"SubGraph '{NAME}' failed: "
BLOCK = rf"SubGraph '{NAME}' failed (?:at|in the gradient of) block '"
# What never happens: this program takes no memory but what its ops do.
NEVER = {("loops", "dataflow", "allocation")}


def places(kind, executor):
    """Returns what of an error says where a fault of a kind struck."""
    if kind in ("activation", "launch"):
        return PATH
    if executor == "dataflow":
        return f"{PATH}|{ROOT}" if kind == "allocation" else PATH
    return f"{PATH}|{ROOT}|{BLOCK}"


@pytest.fixture(scope="module", params=PROGRAMS)
def step(request, executor):
    """Returns a function to values and gradients, which has run before."""
    step = PROGRAMS[request.param]()
    for _ in range(3):
        step()
    return step


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
def test_a_fault_is_one_error_and_leaves_nothing(step, kind, executor, request):
    program = request.node.callspec.params["step"]
    expected = step()
    number = count(kind, step)
    assert (number == 0) == ((program, executor, kind) in NEVER)
    with counted():
        for nth in range(1, number + 1):
            with planted(kind, nth) as fault:
                found, error = outcome(step)
            assert_nothing_lives()
            if error is None:
                # Of memory, what was tried again, or is there from before.
                assert kind == "allocation" or not fault.struck, nth
                assert_same(found, expected)
            else:
                assert len(re.findall(CAUSES, error)) == 1, (nth, error)
                assert len(re.findall(places(kind, executor), error)) == 1, (nth, error)
            assert_same(step(), expected)
            assert_nothing_lives()
