"""Gradients of root calls, however they are asked for.

Most tests use a power, whose derivatives are known: f(x, n) = (w x)^n by recursion.
"""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.powers import BOTH_WAYS, BY_W, BY_X, N, W, X, power
from tests.helpers.threads import run_in_threads

pytestmark = pytest.mark.every_executor

# --- Tapes


@BOTH_WAYS
def test_a_tape_around_a_call(way, w, x):
    f = power(w)

    @way
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, N)
        return tape.gradient(y, [x, w])

    np.testing.assert_allclose(step(x), [BY_X, BY_W], rtol=1e-5)


@BOTH_WAYS
def test_a_tape_around_the_definition_too(way, w, x):
    @way
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = power(w)(x, N)
        return tape.gradient(y, [x, w])

    np.testing.assert_allclose(step(x), [BY_X, BY_W], rtol=1e-5)


def test_a_tape_outside_of_a_function(w, x):
    call = tf.function(power(w))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = call(x, N)
    np.testing.assert_allclose(tape.gradient(y, [x, w]), [BY_X, BY_W], rtol=1e-5)


def test_a_tape_outside_of_a_function_that_defines_the_subgraph(w, x):
    call = tf.function(lambda x: power(w)(x, N))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = call(x)
    np.testing.assert_allclose(tape.gradient(y, [x, w]), [BY_X, BY_W], rtol=1e-5)


@BOTH_WAYS
def test_a_persistent_tape_gives_a_gradient_of_each_target(way, w, x):
    @way
    def step(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = power(w)(x, N)
            z = y * y
        return tape.gradient(y, x), tape.gradient(z, x), tape.gradient(y, w)

    y = (W * X) ** N
    np.testing.assert_allclose(step(x), [BY_X, 2 * y * BY_X, BY_W], rtol=1e-5)


def test_a_persistent_tape_gives_the_same_gradient_twice(w, x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = power(w)(x, N)
    first, second = tape.gradient(y, [x, w]), tape.gradient(y, [x, w])
    assert [float(g) for g in first] == [float(g) for g in second]


def test_a_persistent_tape_outside_of_a_function(w, x):
    call = tf.function(lambda x: power(w)(x, N))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = call(x)
    np.testing.assert_allclose(tape.gradient(y, x), BY_X, rtol=1e-5)
    np.testing.assert_allclose(tape.gradient(y, w), BY_W, rtol=1e-5)


def test_tf_gradients(w, x):
    @tf.function
    def step(x):
        return tf.gradients(power(w)(x, N), [x, w])

    np.testing.assert_allclose(step(x), [BY_X, BY_W], rtol=1e-5)


def test_tf_gradients_with_a_gradient_of_the_output(w, x):
    @tf.function
    def step(x):
        return tf.gradients(power(w)(x, N), [x], grad_ys=tf.constant(3.0))

    np.testing.assert_allclose(step(x), [3 * BY_X], rtol=1e-5)


@BOTH_WAYS
def test_a_tape_with_an_output_gradient(way, w, x):
    @way
    def step(x):
        with tf.GradientTape() as tape:
            y = power(w)(x, N)
        return tape.gradient(y, w, output_gradients=tf.constant(-2.0))

    np.testing.assert_allclose(step(x), -2 * BY_W, rtol=1e-5)


def test_what_a_tape_does_not_watch_has_no_gradient(w, x):
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = power(w)(x, N)
    by_x, by_w = tape.gradient(y, [x, w])
    np.testing.assert_allclose(by_x, BY_X, rtol=1e-5)
    assert by_w is None


def test_a_tape_watches_the_variables_of_a_body(w, x):
    with tf.GradientTape() as tape:
        power(w)(x, N)
    assert [v is w for v in tape.watched_variables()] == [True]


def test_a_jacobian_by_a_loop(w):
    with tf.GradientTape(persistent=True) as tape:
        xs = tf.constant([0.5, X])
        tape.watch(xs)
        y = power(w).map(xs, [2, N])
    jacobian = tape.jacobian(y, xs, experimental_use_pfor=False)
    np.testing.assert_allclose(jacobian, [[2 * W**2 * 0.5, 0], [0, BY_X]], rtol=1e-5)


# --- Several calls


@BOTH_WAYS
def test_several_calls_under_one_tape_add_up(way, w, x):
    f = power(w)

    @way
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, N) + 10.0 * f(x, 2) + f(2.0 * x, 1)
        return tape.gradient(y, [x, w])

    by_x = BY_X + 10 * 2 * W**2 * X + 2 * W
    by_w = BY_W + 10 * 2 * W * X**2 + 2 * X
    np.testing.assert_allclose(step(x), [by_x, by_w], rtol=1e-5)


@BOTH_WAYS
def test_the_result_of_a_call_goes_into_the_next(way, w, x):
    f = power(w)

    @way
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(f(x, 2), 3)
        return tape.gradient(y, [x, w])

    by_x = 6 * W**9 * X**5
    np.testing.assert_allclose(step(x), [by_x, 9 * W**8 * X**6], rtol=1e-5)


def test_a_call_without_a_gradient_beside_one_with(w, x):
    f = power(w)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.stop_gradient(f(x, 2)) * f(x, N)
    np.testing.assert_allclose(tape.gradient(y, x), (W * X) ** 2 * BY_X, rtol=1e-5)


def test_depth_is_a_value_of_the_run_not_of_the_trace(w, x):
    f = power(w)

    @tf.function
    def slope(x, n):
        return tf.gradients(f(x, n), x)[0]

    found = [slope(x, tf.constant(n)) for n in (0, 1, 7)]
    np.testing.assert_allclose(found, [0, W, 7 * W**7 * X**6], rtol=1e-5)


def test_steps_in_flight_in_threads_do_not_meet(w):
    f = power(w)

    @tf.function
    def slopes(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, n)
        return tape.gradient(y, [x, w])

    found = run_in_threads(
        lambda i: [slopes(tf.constant(0.1 * i), tf.constant(i)) for _ in range(20)], 8
    )
    for i, results in enumerate(found):
        x = 0.1 * i
        by_x = i * W**i * x ** (i - 1) if i else 0
        by_w = i * x**i * W ** (i - 1) if i else 0
        np.testing.assert_allclose(results, [[by_x, by_w]] * 20, rtol=1e-4)


def test_gradients_wait_until_all_forward_steps_are_done(w):
    """Each root call has a backprop cache of its own."""
    f = power(w)
    xs = [tf.constant(value) for value in (0.5, 0.7, 0.9)]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(xs)
        ys = [f(x, N) for x in xs]
    for x, y in reversed(list(zip(xs, ys, strict=True))):
        expected = N * W**N * float(x) ** (N - 1)
        np.testing.assert_allclose(tape.gradient(y, x), expected, rtol=1e-5)


# --- Map


@BOTH_WAYS
def test_map_gives_every_row_its_gradient(way, w):
    f = power(w)
    xs, ns = np.array([0.5, 0.7, 0.9, 1.1], np.float32), np.array([3, 0, 1, 5])

    @way
    def step(xs):
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = f.map(xs, tf.constant(ns, tf.int32))
        return tape.gradient(y, [xs, w], output_gradients=tf.constant([1.0, 2, 3, 4]))

    by_xs, by_w = step(tf.constant(xs))
    scale = np.array([1, 2, 3, 4])
    expected = scale * ns * W**ns * xs ** np.maximum(ns - 1, 0)
    np.testing.assert_allclose(by_xs, expected, rtol=1e-5)
    np.testing.assert_allclose(by_w, np.sum(expected * xs / W), rtol=1e-5)


@BOTH_WAYS
def test_map_of_no_rows_has_gradients_of_no_rows_and_zeros(way, w):
    f = power(w)

    @way
    def step(xs):
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = tf.reduce_sum(f.map(xs, tf.zeros([0], tf.int32)))
        return tape.gradient(y, [xs, w])

    by_xs, by_w = step(tf.zeros([0]))
    assert by_xs.shape == [0]
    assert float(by_w) == 0


def test_map_of_no_rows_has_zeros_for_a_matrix_and_an_embedding():
    table, matrix = tf.Variable(tf.ones([5, 3])), tf.Variable(tf.ones([3, 2]))
    with rtf.SubGraph("row") as row:
        i = row.input(tf.int32)
        row.output(tf.linalg.matvec(matrix, tf.gather(table, i), transpose_a=True))
    with tf.GradientTape() as tape:
        y = row.map(tf.zeros([0], tf.int32))
    by_table, by_matrix = tape.gradient(y, [table, matrix])
    np.testing.assert_array_equal(tf.convert_to_tensor(by_table), np.zeros([5, 3]))
    np.testing.assert_array_equal(by_matrix, np.zeros([3, 2]))


# --- Inside of the user's own control flow


@BOTH_WAYS
def test_a_root_call_in_a_branch(way, w, x):
    f = power(w)

    @way
    def step(x, taken):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(taken, lambda: f(x, N), lambda: 3.0 * x)
        return tape.gradient(y, x)

    for taken, expected in (True, BY_X), (False, 3.0):
        found = step(x, tf.constant(taken))
        np.testing.assert_allclose(found, expected, rtol=1e-5)


@BOTH_WAYS
def test_a_root_call_in_each_step_of_a_loop(way, w, x):
    f = power(w)

    @way
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(
                lambda i, _: i < 3,
                lambda i, y: (i + 1, y + f(x, i + 1)),
                (0, tf.constant(0.0)),
            )[1]
        return tape.gradient(y, [x, w])

    by_x = W + 2 * W**2 * X + 3 * W**3 * X**2
    np.testing.assert_allclose(step(x), [by_x, by_x * X / W], rtol=1e-5)


@BOTH_WAYS
def test_a_loop_that_feeds_a_root_call_its_own_result(way, w, x):
    f = power(w)

    @way
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(
                lambda i, _: i < 3, lambda i, y: (i + 1, f(y, 2)), (0, x)
            )[1]
        return tape.gradient(y, [x, w])

    expected = [8 * W**14 * X**7, 14 * W**13 * X**8]
    np.testing.assert_allclose(step(x), expected, rtol=1e-4)


def test_a_root_call_in_a_function_in_a_function(w, x):
    inner = tf.function(power(w))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = 2.0 * inner(x, N)
        return tape.gradient(y, [x, w])

    np.testing.assert_allclose(step(x), [2 * BY_X, 2 * BY_W], rtol=1e-5)


def test_a_root_call_under_recompute_grad(w, x):
    f = power(w)
    recomputed = tf.recompute_grad(lambda x: f(x, N))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = recomputed(x)
    np.testing.assert_allclose(tape.gradient(y, x), BY_X, rtol=1e-5)


def test_a_variable_that_is_assigned_later_has_the_gradient_of_what_was_read():
    table, weight = tf.Variable([[1.0], [2.0]]), tf.Variable([[3.0]])
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        row = lambda: tf.linalg.matvec(weight, tf.gather(table, n % 2))  # noqa: E731
        f.output(tf.cond(n < 1, row, lambda: row() + f(n - 1)))
    with tf.GradientTape() as tape:
        y = f(3)
    table.assign([[100.0], [100.0]])
    weight.assign([[100.0]])
    by_table, by_weight = tape.gradient(y, [table, weight])
    assert tf.convert_to_tensor(by_table).numpy().tolist() == [[6.0], [6.0]]
    assert by_weight.numpy().tolist() == [[6.0]]
