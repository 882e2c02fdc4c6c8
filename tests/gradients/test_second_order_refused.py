"""Which bodies have no gradients of gradients, and what is in those that have."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.derivatives import slopes_of_slope
from tests.helpers.powers import W

pytestmark = pytest.mark.every_executor


def check_refused(f, x, match):
    with pytest.raises(NotImplementedError, match=match):
        slopes_of_slope(lambda x: f(x, 2), x, x)


@pytest.mark.falls_back("an effect")
def test_an_effect_is_refused(x):
    count = tf.Variable(0)
    with rtf.SubGraph("counting") as f:
        y, n = f.input(tf.float32), f.input(tf.int32)
        count.assign_add(1)
        f.output(tf.cond(n < 1, lambda: y, lambda: tf.sin(f(y, n - 1))))
    check_refused(f, x, r"SubGraph 'counting' .* AssignAddVariableOp .* an effect")


def test_random_numbers_are_the_same_again(x):
    with rtf.SubGraph("noisy") as f:
        y, n = f.input(tf.float32), f.input(tf.int32)
        noise = tf.random.normal([])
        f.output(tf.cond(n < 1, lambda: y, lambda: noise * f(y, n - 1) ** 2))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x, 2)
        slope = inner.gradient(y, x)
    # Of a b^2 x^4, whatever a and b are.
    np.testing.assert_allclose(outer.gradient(slope, x), 12 * y / x**2, rtol=1e-4)


def test_a_print_and_an_assertion_are_not_repeated(w, x, capfd):
    with rtf.SubGraph("talking") as f:
        y, n = f.input(tf.float32), f.input(tf.int32)
        tf.print("at", n)
        tf.debugging.assert_less(n, 5)
        f.output(tf.cond(n < 1, lambda: y, lambda: w * f(y, n - 1) ** 2))
    found = slopes_of_slope(lambda x: f(x, 1), x, x)
    np.testing.assert_allclose(found, 2 * W, rtol=1e-5)
    assert capfd.readouterr().err.split() == ["at", "1", "at", "0"]


@tf.custom_gradient
def clipped(y):
    return tf.identity(y), lambda upstream: tf.clip_by_value(upstream, -1.0, 1.0)


def clipping(w):
    """Returns the SubGraph (x, n) -> w^n x, whose gradients are clipped on the way."""
    with rtf.SubGraph("clipping") as f:
        y, n = f.input(tf.float32), f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: y, lambda: w * clipped(f(y, n - 1))))
    return f


def test_a_custom_gradient_that_is_not_linear_is_refused(w, x):
    check_refused(clipping(w), x, r"SubGraph 'clipping' .*IdentityN .* is not linear")


def in_branches(f):
    """Returns a function of x that calls f(x, 2) in a branch of a branch."""
    call = lambda x: tf.cond(x < 9, lambda: f(x, 2), lambda: x)  # noqa: E731
    return tf.function(lambda x: tf.cond(x > 0, lambda: call(x), lambda: x))


def test_a_second_derivative_that_nobody_asks_for_is_not_refused(w, x):
    f = in_branches(clipping(w))
    with tf.GradientTape() as tape, tf.GradientTape() as other:
        tape.watch(x)
        other.watch(x)
        y = f(x)
        z = 2 * y
    # What the multiplication by w makes more than 1 is clipped, again and again.
    assert (tape.gradient(y, x), other.gradient(z, x)) == (1, 1)


def test_a_second_derivative_in_a_branch_is_refused_when_it_is_computed(w, x):
    f = in_branches(clipping(w))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"clipping.* not linear"):
        slopes_of_slope(f, x, x)


def test_max_pooling_is_refused():
    image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    with rtf.SubGraph("pooled") as pooled:
        n, x = pooled.input(tf.int32), pooled.input(tf.float32)
        pool = lambda: tf.nn.max_pool2d(tf.sin(x * image), 3, 1, "SAME")  # noqa: E731
        more = lambda: pooled(n - 1, tf.reduce_sum(pool()))  # noqa: E731
        pooled.output(tf.cond(n < 1, lambda: x**2, more))
    check_refused(
        lambda x, n: pooled(n, x), tf.constant(0.5), "'pooled' .*MaxPool .*wrong"
    )


def test_a_recomputed_gradient_is_refused(w, x):
    recomputed = tf.recompute_grad(lambda y: tf.sin(y) * tf.cos(y))
    with rtf.SubGraph("frugal") as f:
        y, n = f.input(tf.float32), f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: y, lambda: w * recomputed(f(y, n - 1))))
    check_refused(f, x, r"SubGraph 'frugal' .*IdentityN .* recompute_grad")


def test_an_op_whose_gradient_has_none_is_refused(w, x):
    with rtf.SubGraph("soft") as f:
        y, n = f.input(tf.float32), f.input(tf.int32)
        softsign = tf.nn.softsign
        f.output(tf.cond(n < 1, lambda: y, lambda: w * softsign(f(y, n - 1))))
    check_refused(f, x, r"SubGraph 'soft' .*Softsign .*test_second_order")


def test_an_unknown_derivative_behind_stop_gradient_is_not_asked_for(w, x):
    with rtf.SubGraph("stopped") as f:
        y, n = f.input(tf.float32), f.input(tf.int32)

        def step():
            below = f(y, n - 1)
            return w * below**2 + tf.stop_gradient(tf.nn.softsign(below))

        f.output(tf.cond(n < 1, lambda: y, step))
    found = slopes_of_slope(lambda x: f(x, 1), x, x)
    np.testing.assert_allclose(found, 2 * W, rtol=1e-5)
