"""Gradients of gradients: of powers, whose derivatives of any order are known.

What is between tapes, functions and loops is checked here; what is in bodies by the
tests with `@feature`, where every program has its gradients differentiated.
"""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.powers import BOTH_WAYS, BY_X, N, W, X, power

pytestmark = pytest.mark.every_executor

BY_XX = N * (N - 1) * W**N * X ** (N - 2)
BY_XW = N * N * W ** (N - 1) * X ** (N - 1)
BY_WW = N * (N - 1) * X**N * W ** (N - 2)


def slopes_of_slope(f, x, sources):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        slope = inner.gradient(y, x)
    return outer.gradient(slope, sources)


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


# --- Forward mode, which TensorFlow makes of gradients of gradients


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


# --- Look-ups, whose gradients are slices


def looking_up(table):
    """Returns the SubGraph n -> the product of rows n % 2 of a table, down to 0."""
    with rtf.SubGraph("looking_up") as f:
        n = f.input(tf.int32)
        f.output(
            tf.cond(n < 1, lambda: 1.0, lambda: tf.gather(table, n % 2) * f(n - 1))
        )
    return f


A, B = 0.5, 1.5


@BOTH_WAYS
def test_look_ups_of_one_row_again_and_again(way):
    """Of a^2 b^2, the sum over both derivatives, by a and by b."""
    table = tf.Variable([A, B])
    f = looking_up(table)

    @way
    def second():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = f(4)
            slopes = inner.gradient(y, table)
            # Eagerly, a tape within a tape makes it dense.
            assert isinstance(slopes, tf.IndexedSlices) == (way is tf.function)
            total = tf.reduce_sum(tf.convert_to_tensor(slopes))
        return tf.convert_to_tensor(outer.gradient(total, table))

    expected = [2 * B**2 + 4 * A * B, 2 * A**2 + 4 * A * B]
    np.testing.assert_allclose(second(), expected, rtol=1e-5)


def test_slices_may_be_used_each_by_itself():
    """There is one for each row."""
    table = tf.Variable([A, B])
    f = looking_up(table)

    @tf.function
    def second(factors):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = f(4)
            slopes = inner.gradient(y, table)
            total = tf.reduce_sum(slopes.values * tf.gather(factors, slopes.indices))
        return tf.convert_to_tensor(outer.gradient(total, table))

    factors = np.array([3.0, -2.0], np.float32)
    curvature = np.array([[2 * B**2, 4 * A * B], [4 * A * B, 2 * A**2]])
    np.testing.assert_allclose(second(factors), curvature @ factors, rtol=1e-5)


def test_a_table_of_constants_beside_a_weight(w, x):
    """A resource that is no variable, which TensorFlow cannot hand out of functions."""
    keys, values = tf.range(5), tf.range(5.0)
    entries = tf.lookup.KeyValueTensorInitializer(keys, values)
    known = tf.lookup.StaticHashTable(entries, 0.0)
    with rtf.SubGraph("known") as f:
        y, n = f.input(tf.float32), f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: y, lambda: known.lookup(n) * f(y * y, n - 1)))
    found = slopes_of_slope(lambda x: f(x, 2), x, x)
    np.testing.assert_allclose(found, 2 * 12 * X**2, rtol=1e-5)


# --- What is refused


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


def test_a_custom_gradient_that_is_not_linear_is_refused(w, x):
    with rtf.SubGraph("clipping") as f:
        y, n = f.input(tf.float32), f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: y, lambda: w * clipped(f(y, n - 1))))
    check_refused(f, x, r"SubGraph 'clipping' .*IdentityN .* is not linear")


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
