"""Whatever launch fails, the error says where, and the next root call is right.

A chain of calls fails at one level: on the way down, on the way back up, or in the
gradient. In the batched executor each of these is a launch of its own.
"""

import re

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of

pytestmark = pytest.mark.every_executor

LEVELS = 5
NOWHERE = -1
PHASES = ("down", "up", "back")


def checked(x, fails):
    """Returns x, or fails."""
    return tf.debugging.check_numerics(tf.where(fails, np.inf, x), "a bad level")


@tf.custom_gradient
def checked_in_gradient(x, fails):
    return tf.identity(x), lambda dy: (checked(dy, fails), None)


@pytest.fixture
def step():
    """Returns a function of the level where each phase fails.

    It gives 3 w^LEVELS, and its derivative by w, where w is 2.
    """
    w = tf.Variable(2.0)
    with rtf.SubGraph("chain") as chain:
        n, fails_at = chain.input(tf.int32), chain.input(tf.int32, [len(PHASES)])
        fails = tf.unstack(tf.equal(n, fails_at))
        x = checked(3.0, fails[0])
        more = lambda: w * chain(n - 1, fails_at)  # noqa: E731
        y = checked(tf.cond(n < 1, lambda: x, more), fails[1])
        chain.output(checked_in_gradient(y, fails[2]))

    @tf.function(input_signature=[tf.TensorSpec([len(PHASES)], tf.int32)])
    def step(fails_at):
        with tf.GradientTape() as tape:
            y = chain(LEVELS, fails_at)
        return y, tape.gradient(y, w)

    return step


def fails_at(**levels):
    return [levels.get(phase, NOWHERE) for phase in PHASES]


def assert_right(step):
    value, slope = step(fails_at())
    assert (float(value), float(slope)) == (3 * 2.0**LEVELS, 3 * LEVELS * 2.0**4)


@pytest.mark.parametrize("phase", PHASES)
def test_each_launch_may_fail(step, phase, executor):
    assert_right(step)
    for level in range(LEVELS + 1):
        failing = fails_at(**{phase: level})
        message = message_of(lambda f=failing: step(f), tf.errors.InvalidArgumentError)
        assert "a bad level" in message
        (line,) = re.findall(r"SubGraph 'chain' .*", message)
        if phase == "back" and executor == "auto":
            assert line.startswith("SubGraph 'chain' failed in the gradient of block ")
        else:
            path = "chain" + " → call#0" * (LEVELS - level)
            assert re.match(f"SubGraph 'chain' failed at {path}( in block |: )", line)
        assert_right(step)
