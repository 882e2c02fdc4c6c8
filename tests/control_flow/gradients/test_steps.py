"""Gradients of a recursion, by what its steps do between its calls."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.control_flow.gradients.recursions import (
    assert_same,
    recursion,
    slopes,
    unroll,
)
from tests.control_flow.gradients.steps import STEPS

pytestmark = [pytest.mark.every_executor, pytest.mark.slow]


@pytest.mark.parametrize("shows", STEPS)
@pytest.mark.falls_back("a list of unknown length", at="a tensor array")
def test_a_step_of_a_recursion_has_the_gradient_of_the_unrolled_one(shows, w, x):
    def step(x, n, f):
        return STEPS[shows](w, x, n, f)

    f = recursion(tf.sin, step)
    assert_same(lambda x: f(x, 3), lambda x: unroll(tf.sin, step, x, 3), x, w)


def test_the_base_case_may_be_the_second_branch(w, x):
    with rtf.SubGraph("f") as f:
        y, n = f.input(tf.float32, [2]), f.input(tf.int32)
        f.output(tf.cond(n > 0, lambda: w * f(tf.sin(y), n - 1), lambda: w + y))
    sin = tf.sin
    assert_same(lambda x: f(x, 2), lambda x: w * w * (w + sin(sin(x))), x, w)


def test_a_step_may_look_at_values_that_it_computed(w, x):
    def descend(y, f):
        return tf.cond(tf.norm(y) < 0.3, lambda: w + y, lambda: f(0.7 * y) * w)

    with rtf.SubGraph("shrink") as shrink:
        y = shrink.input(tf.float32, [2])
        shrink.output(descend(y, shrink))

    def unrolled(y):
        return descend(y, unrolled)

    assert_same(shrink, unrolled, x, w)


def test_a_recursion_of_ten_thousand_levels_has_a_gradient():
    w = tf.Variable(1.0, dtype=tf.float64)
    depth = 10_000
    with rtf.SubGraph("deep") as deep:
        n = deep.input(tf.int32)
        deep.output(
            tf.cond(n < 1, lambda: tf.ones([], w.dtype), lambda: w * deep(n - 1))
        )
    with tf.GradientTape() as tape:
        y = deep(depth)
    assert float(tape.gradient(y, w)) == depth


def test_a_custom_gradient_may_use_a_constant_of_the_outside(w, x):
    big = tf.range(1000.0)

    @tf.custom_gradient
    def scaled(y):
        return tf.identity(y), lambda dy: dy * big[2]

    f = recursion(tf.sin, lambda x, n, f: scaled(w * f(x, n - 1)))
    assert_same(lambda x: f(x, 2), lambda x: scaled(w * scaled(w * tf.sin(x))), x, w)


@pytest.mark.falls_back("a gradient that cannot be batched")
def test_a_custom_gradient_that_uses_a_variable_of_its_own_is_refused(w, x):
    @tf.custom_gradient
    def scaled(y):
        return tf.identity(y), lambda dy: dy * w

    f = recursion(tf.sin, lambda x, n, f: scaled(f(x, n - 1)))
    with pytest.raises(NotImplementedError, match="Make it an argument"):
        slopes(lambda x: f(x, 2), x, [w])


def test_a_body_may_use_a_gradient_of_its_own_ops(w, x):
    def slope(y):
        z = tf.sin(w * y)
        return tf.gradients(z, y)[0]

    f = recursion(tf.sin, lambda x, n, f: slope(f(x, n - 1)))
    assert_same(lambda x: f(x, 1), lambda x: w * tf.cos(w * tf.sin(x)), x, w)
