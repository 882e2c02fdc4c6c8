"""Gradients beside effects: none is repeated, and values are those that were read."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.control_flow.gradients.recursions import assert_same

pytestmark = [pytest.mark.every_executor, pytest.mark.slow]


def counted(w, counter):
    """Returns x, n -> w^n x; each of its invocations counts itself."""
    with rtf.SubGraph("counted") as f:
        y, n = f.input(tf.float32, [2]), f.input(tf.int32)
        counter.assign_add(1)
        f.output(tf.cond(n < 1, lambda: y, lambda: w * f(y, n - 1)))
    return f


@pytest.mark.falls_back("an effect")
def test_a_program_with_an_effect_has_the_same_gradient(w, x):
    counter = tf.Variable(0)
    f = counted(w, counter)
    assert_same(lambda x: f(x, 3), lambda x: w**3 * x, x, w)


@pytest.mark.falls_back("an effect")
def test_a_gradient_does_not_repeat_an_effect(w, x):
    counter = tf.Variable(0)
    f = counted(w, counter)
    with tf.GradientTape() as tape:
        y = f(x, 3)
    tape.gradient(y, w)
    assert int(counter) == 4


@pytest.mark.falls_back("an effect")
def test_a_gradient_uses_the_weight_as_it_was_when_it_was_read(x):
    """Each level reads the weight, and doubles it before the next one."""
    w = tf.Variable([0.5, -1.5])
    with rtf.SubGraph("doubling") as doubling:
        y, n = doubling.input(tf.float32, [2]), doubling.input(tf.int32)

        def more():
            value = w.read_value()
            with tf.control_dependencies([value]):
                changed = w.assign(2.0 * value, read_value=False)
            with tf.control_dependencies([changed]):
                return value * doubling(tf.identity(y), n - 1)

        doubling.output(tf.cond(n < 1, lambda: y, more))
    with tf.GradientTape() as tape:
        tape.watch(x)
        product = tf.reduce_sum(doubling(x, 2))
    by_x, by_w = tape.gradient(product, [x, w])
    start = np.array([0.5, -1.5])
    np.testing.assert_allclose(w, 4 * start)
    np.testing.assert_allclose(by_x, start * 2 * start)
    np.testing.assert_allclose(by_w, x * (start + 2 * start), rtol=1e-6)
