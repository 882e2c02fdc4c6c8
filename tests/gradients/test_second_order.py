"""Gradients of gradients: of powers, whose derivatives of any order are known.

What is between tapes, functions and loops is checked here; what is in bodies by the
tests with `@feature`, where every program has its gradients differentiated.
"""

import numpy as np
import pytest
import tensorflow as tf

from tests.helpers.derivatives import slopes_of_slope
from tests.helpers.powers import BOTH_WAYS, BY_WW, BY_X, BY_XW, BY_XX, N, W, X, power

pytestmark = pytest.mark.every_executor


@BOTH_WAYS
def test_of_nested_tapes(way, w, x):
    f = power(w)
    found = way(lambda x: slopes_of_slope(lambda x: f(x, N), x, [x, w]))(x)
    np.testing.assert_allclose(found, [BY_XX, BY_XW], rtol=1e-5)


def test_of_a_function_that_calls(w, x):
    f = power(w)
    found = slopes_of_slope(tf.function(lambda x: f(x, N)), x, [x, w])
    np.testing.assert_allclose(found, [BY_XX, BY_XW], rtol=1e-5)


@BOTH_WAYS
def test_of_a_function_that_takes_the_first_gradient(way, w, x):
    f = power(w)

    @tf.function
    def slopes(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, N)
        return tape.gradient(y, [x, w])

    @way
    def second(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            by_x, by_w = slopes(x)
        return [*tape.gradient(by_x, [x, w]), tape.gradient(by_w, w)]

    np.testing.assert_allclose(second(x), [BY_XX, BY_XW, BY_WW], rtol=1e-5)


@pytest.mark.parametrize("dtype", [tf.float64, tf.complex128])
def test_of_other_types(dtype):
    w, x = tf.Variable(W, dtype=dtype), tf.constant(X, dtype)
    f = power(w, dtype)
    found = slopes_of_slope(lambda x: f(x, N), x, [x, w])
    assert [gradient.dtype for gradient in found] == [dtype, dtype]
    np.testing.assert_allclose(found, [BY_XX, BY_XW], rtol=1e-12)


@pytest.mark.filterwarnings("ignore:Calling GradientTape.gradient on a persistent")
@BOTH_WAYS
def test_of_a_persistent_tape(way, w, x):
    f = power(w)

    @way
    def step(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x, N)
            by_x, by_w = tape.gradient(y, [x, w])
        return [tape.gradient(by_x, [x, w]), tape.gradient(by_w, [x, w])]

    expected = [[BY_XX, BY_XW], [BY_XW, BY_WW]]
    np.testing.assert_allclose(step(x), expected, rtol=1e-5)
    np.testing.assert_allclose(step(x), expected, rtol=1e-5)


def test_of_gradients_without_a_tape(w, x):
    @tf.function
    def second(x):
        (by_x,) = tf.gradients(power(w)(x, N), x)
        return tf.gradients(by_x, [x, w])

    np.testing.assert_allclose(second(x), [BY_XX, BY_XW], rtol=1e-5)


@BOTH_WAYS
def test_a_third_and_a_fourth_derivative(way, w, x):
    f = power(w)

    def differentiated(function):
        def slope(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            return tape.gradient(y, x)

        return slope

    third = differentiated(differentiated(differentiated(lambda x: f(x, N))))
    found = [way(third)(x), way(differentiated(third))(x)]
    expected = [W**N * N * (N - 1) * (N - 2) * X, W**N * N * (N - 1) * (N - 2)]
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@BOTH_WAYS
def test_by_the_gradient_that_the_first_was_given(way, w, x):
    f, given = power(w), tf.constant(0.7)

    @way
    def by_given(x):
        with tf.GradientTape() as outer:
            outer.watch(given)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x, N)
            slope = inner.gradient(y, x, output_gradients=given)
        return outer.gradient(slope, given)

    np.testing.assert_allclose(by_given(x), BY_X, rtol=1e-5)


@BOTH_WAYS
def test_a_gradient_in_a_loss_beside_its_value(way, w, x):
    f = power(w)

    @way
    def by_w(x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x, N)
            penalty = (inner.gradient(y, x) - 1.0) ** 2
            loss = y + 3.0 * penalty
        return outer.gradient(loss, w)

    expected = N * X**N * W ** (N - 1) + 6.0 * (BY_X - 1.0) * BY_XW
    np.testing.assert_allclose(by_w(x), expected, rtol=1e-5)


@BOTH_WAYS
def test_a_hessian_by_jacobian(way, w):
    f = power(w)

    @way
    def hessian(rows):
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(rows)
            with tf.GradientTape() as inner:
                inner.watch(rows)
                y = f.map(rows, [N, 2, 0])
            slopes = inner.gradient(y, rows)
        return outer.jacobian(slopes, rows, experimental_use_pfor=False)

    rows = tf.constant([X, 1.2, -0.5])
    expected = np.diag([BY_XX, 2 * W**2, 0.0])
    np.testing.assert_allclose(hessian(rows), expected, rtol=1e-5)


@BOTH_WAYS
def test_a_call_in_a_loop(way, w, x):
    f = power(w)

    @way
    def second(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                count = lambda n, _: n <= N  # noqa: E731
                step = lambda n, total: (n + 1, total + f(x, n))  # noqa: E731
                _, y = tf.while_loop(count, step, (1, tf.zeros([])))
            slope = inner.gradient(y, x)
        return outer.gradient(slope, [x, w])

    ns = range(1, N + 1)
    by_xx = sum(n * (n - 1) * W**n * X ** (n - 2) for n in ns)
    by_xw = sum(n * n * W ** (n - 1) * X ** (n - 1) for n in ns)
    np.testing.assert_allclose(second(x), [by_xx, by_xw], rtol=1e-5)


@BOTH_WAYS
def test_by_what_comes_after_the_call(way, w, x):
    f, factor = power(w), tf.Variable(2.0)

    @way
    def second(x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x, N) * factor
            by_x, by_w = inner.gradient(y, [x, w])
            total = by_x + 3.0 * by_w
        return outer.gradient(total, factor)

    expected = BY_X + 3.0 * N * X**N * W ** (N - 1)
    np.testing.assert_allclose(second(x), expected, rtol=1e-5)


@BOTH_WAYS
def test_no_outer_tape_records(way, w, x):
    f = power(w)

    @way
    def step(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x, N)
            with outer.stop_recording():
                slope = inner.gradient(y, x)
            z = y * slope
        return outer.gradient(z, x)

    np.testing.assert_allclose(step(x), BY_X**2, rtol=1e-5)


def test_forward_over_reverse(w, x):
    f = power(w)
    found = []
    for source in (x, w):
        with tf.autodiff.ForwardAccumulator(source, tf.constant(1.0)) as forward:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x, N)
            slope = tape.gradient(y, x)
        found.append(forward.jvp(slope))
    np.testing.assert_allclose(found, [BY_XX, BY_XW], rtol=1e-5)


def test_forward_over_forward(w, x):
    f = power(w)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner:
            y = f(x, N)
        slope = inner.jvp(y)
    np.testing.assert_allclose(outer.jvp(slope), BY_XX, rtol=1e-5)


def test_a_gradient_that_is_followed_in_a_function_is_refused(w, x):
    f = power(w)

    @tf.function
    def followed(x):
        scale = tf.constant(1.0)
        with tf.autodiff.ForwardAccumulator(scale, tf.constant(1.0)) as forward:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x, N) * scale
            slope = tape.gradient(y, x)
        return forward.jvp(slope)

    with pytest.raises(NotImplementedError, match="no derivative in forward mode"):
        followed(x)
