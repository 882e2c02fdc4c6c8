"""What has a gradient and what has none: outputs, captures, structures, dtypes."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.powers import BOTH_WAYS, BY_W, BY_X, N, W, X, power

pytestmark = pytest.mark.every_executor

# --- What has no gradient


def test_a_program_of_integers_has_none(w):
    with rtf.SubGraph("count") as count:
        n = count.input(tf.int32)
        step = tf.cast(w, tf.int32)
        count.output(tf.cond(n < 1, lambda: 0, lambda: step + count(n - 1)))
    with tf.GradientTape() as tape:
        y = tf.cast(count(3), tf.float32)
    assert tape.gradient(y, w) is None


def test_a_program_of_integers_lets_the_rest_have_one(x):
    with rtf.SubGraph("fib") as fib:
        n = fib.input(tf.int32)
        fib.output(tf.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * tf.cast(fib(10), tf.float32)
    np.testing.assert_allclose(tape.gradient(y, x), 55)


def test_a_capture_that_outputs_do_not_depend_on_has_none(w, x):
    unused = tf.Variable(1.0)
    with rtf.SubGraph("gated") as gated:
        y, n = gated.input(tf.float32), gated.input(tf.int32)
        n = n + tf.cast(unused * 0.0, tf.int32)
        gated.output(tf.cond(n < 1, lambda: y, lambda: w * gated(y, n - 1)))
    with tf.GradientTape() as tape:
        y = gated(x, 2)
    by_unused, by_w = tape.gradient(y, [unused, w])
    assert by_unused is None
    np.testing.assert_allclose(by_w, 2 * W * X, rtol=1e-5)


def test_a_capture_behind_stop_gradient_has_none(w, x):
    with rtf.SubGraph("frozen") as frozen:
        y, n = frozen.input(tf.float32), frozen.input(tf.int32)
        factor = tf.stop_gradient(w)
        frozen.output(tf.cond(n < 1, lambda: y, lambda: factor * frozen(y, n - 1)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = frozen(x, 2)
    by_x, by_w = tape.gradient(y, [x, w])
    np.testing.assert_allclose(by_x, W**2, rtol=1e-5)
    assert by_w is None


def test_a_branch_that_is_not_taken_gives_zero(w, x):
    with tf.GradientTape() as tape:
        y = power(w)(x, 0)
    assert float(tape.gradient(y, w)) == 0


# --- Structured outputs


def statistics(w):
    """Returns x, n -> a dict of the sum and the product of x, w x, ..., and n."""
    with rtf.SubGraph("statistics") as f:
        x, n = f.input(tf.float32), f.input(tf.int32)

        def more():
            rest = f(w * x, n - 1)
            total, (product, count) = rest["sum"], rest["rest"]
            return {"sum": x + total, "rest": (x * product, count + 1)}

        def none():
            return {"sum": tf.constant(0.0), "rest": (tf.constant(1.0), 0)}

        f.output(tf.cond(n < 1, none, more))
    return f


@pytest.mark.parametrize(
    ("use", "by_x", "by_w"),
    [
        (lambda y: y["sum"], 1 + W + W**2, X + 2 * W * X),
        (lambda y: y["rest"][0], 3 * X**2 * W**3, X**3 * 3 * W**2),
        (
            lambda y: y["sum"] * tf.cast(y["rest"][1], tf.float32),
            3 * (1 + W + W**2),
            3 * (X + 2 * W * X),
        ),
    ],
    ids=["the first", "the second", "the first and an integer"],
)
@BOTH_WAYS
def test_some_of_structured_outputs_may_be_unused(way, w, x, use, by_x, by_w):
    f = statistics(w)

    @way
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = use(f(x, 3))
        return tape.gradient(y, [x, w])

    np.testing.assert_allclose(step(x), [by_x, by_w], rtol=1e-5)


def test_inputs_may_be_a_structure(w):
    point = {"a": tf.TensorSpec([], tf.float32), "b": tf.TensorSpec([2], tf.float32)}
    with rtf.SubGraph("walk") as walk:
        p, n = walk.input(point), walk.input(tf.int32)
        walk.output(
            tf.cond(
                n < 1,
                lambda: p["a"] * tf.reduce_sum(p["b"] ** 2),
                lambda: walk({"a": w * p["a"], "b": p["b"]}, n - 1),
            )
        )
    start = {"a": tf.constant(2.0), "b": tf.constant([1.0, 3.0])}
    with tf.GradientTape() as tape:
        tape.watch(start)
        y = walk(start, 2)
    found = tape.gradient(y, start)
    np.testing.assert_allclose(found["a"], 10 * W**2, rtol=1e-5)
    np.testing.assert_allclose(found["b"], [4 * W**2, 12 * W**2], rtol=1e-5)


# --- Dtypes


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [
        (tf.float16, 1e-2),
        (tf.bfloat16, 5e-2),
        (tf.float32, 1e-5),
        (tf.float64, 1e-12),
        (tf.complex64, 1e-5),
        (tf.complex128, 1e-12),
    ],
)
def test_every_dtype_that_has_gradients(dtype, tolerance):
    w, x = tf.Variable(W, dtype=dtype), tf.constant(X, dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = power(w, dtype)(x, N)
    found = [tf.cast(g, tf.complex128) for g in tape.gradient(y, [x, w])]
    np.testing.assert_allclose(found, [BY_X, BY_W], rtol=tolerance)


def test_complex_gradients_are_conjugated_as_tensorflow_does():
    w, x = tf.Variable(1 + 2j, dtype=tf.complex64), tf.constant(0.5 - 1j, tf.complex64)

    def slopes(f):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, [x, w])

    found = slopes(lambda x: power(w, tf.complex64)(x, 3))
    expected = slopes(lambda x: (w * x) * (w * x) * (w * x))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64, tf.complex64])
def test_a_matrix_of_every_dtype_has_a_gradient(dtype):
    w = tf.Variable(tf.cast([[1.0, 2.0], [0.5, -1.0]], dtype))
    x = tf.cast([[1.0, 2.0]], dtype)
    with rtf.SubGraph("apply") as apply:
        n = apply.input(tf.int32)
        apply.output(tf.cond(n < 1, lambda: x, lambda: apply(n - 1) @ w))

    def slope(f):
        with tf.GradientTape() as tape:
            y = f()
        return tf.cast(tape.gradient(y, w), tf.complex128)

    expected = slope(lambda: x @ w @ w)
    np.testing.assert_allclose(slope(lambda: apply(2)), expected, rtol=1e-2)
