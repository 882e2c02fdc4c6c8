"""Ways to take a gradient, and ops that say what theirs is."""

from functools import partial

import pytest
import tensorflow as tf

from tests.helpers.unrolled import (
    assert_close,
    check_call,
    check_rows,
    define_repeat,
    unroll,
)
from tests.language.features import feature

feature = partial(feature, "Gradients")

X = [0.3, -0.4]

both_ways = pytest.mark.parametrize(
    "way", [lambda f: f, tf.function], ids=["eager", "function"]
)


@pytest.fixture
def w():
    return tf.Variable([[0.5, 1.5], [-1.0, 0.8]])


@pytest.fixture
def step(w):
    return lambda y, n: tf.sin(tf.linalg.matvec(w, y)) * tf.cast(n, tf.float32)


@pytest.fixture
def runs(step):
    """A recursion of a vector, and the loop that it unrolls to."""
    return partial(define_repeat(step, shape=[2]), 3), partial(unroll, step, 3)


def assert_all_close(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert_close(one, other)


# --- Tapes


@both_ways
@feature("`tf.GradientTape` around a root call", gradients=True)
def test_a_tape(way, runs, w):
    @way
    def gradients(x, run):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x)
        return [y, *tape.gradient(y, [x, w])]

    recurse, loop = runs
    x = tf.constant(X)
    assert_all_close(gradients(x, recurse), gradients(x, loop))


@both_ways
@feature("persistent tapes", gradients=True)
def test_a_persistent_tape(way, runs, w):
    @way
    def gradients(x, run):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = run(x)
            z = run(tf.cos(y))
        return [*tape.gradient(y, [x, w]), *tape.gradient(z, [x, w, y])]

    recurse, loop = runs
    x = tf.constant(X)
    assert_all_close(gradients(x, recurse), gradients(x, loop))


@feature("`tf.gradients`", gradients=True)
def test_gradients_without_a_tape(runs, w):
    @tf.function
    def gradients(x, run):
        return tf.gradients(run(x), [x, w])

    recurse, loop = runs
    x = tf.constant(X)
    assert_all_close(gradients(x, recurse), gradients(x, loop))


@pytest.mark.slow
@pytest.mark.parametrize("vectorized", [True, False])
@both_ways
@feature("`tape.jacobian`", gradients=True)
def test_a_jacobian(way, vectorized, runs, w):
    @way
    def jacobians(x, run):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = run(x)
        return tape.jacobian(y, [x, w], experimental_use_pfor=vectorized)

    recurse, loop = runs
    x = tf.constant(X)
    assert_all_close(jacobians(x, recurse), jacobians(x, loop))


@pytest.mark.slow
@pytest.mark.parametrize("vectorized", [True, False])
@feature("`tape.batch_jacobian` of `.map`", gradients=True)
def test_a_batch_jacobian(vectorized, step):
    repeat = define_repeat(step, shape=[2])

    @tf.function
    def jacobian(x, run):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = run(x)
        return tape.batch_jacobian(y, x, experimental_use_pfor=vectorized)

    def recurse(x):
        return repeat.map([3, 0, 2], x)

    def loop(x):
        pairs = zip([3, 0, 2], tf.unstack(x), strict=True)
        return tf.stack([unroll(step, n, row) for n, row in pairs])

    x = tf.constant([X, [1.0, 2.0], [-0.5, 0.7]])
    assert_close(jacobian(x, recurse), jacobian(x, loop))


def assert_same_second(second, runs, w):
    """Checks the gradients of a penalty on the gradient by x, by x and w."""
    recurse, loop = runs
    x = tf.constant(X)
    assert_all_close(second(x, recurse), second(x, loop))


@both_ways
@feature("gradients of gradients: nested tapes", gradients=True)
def test_a_gradient_of_a_gradient(way, runs, w):
    @way
    def second(x, run):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = run(x)
            penalty = tf.norm(inner.gradient(y, x)) + tf.reduce_sum(y**2)
        return outer.gradient(penalty, [x, w])

    assert_same_second(second, runs, w)


@feature("gradients of gradients: `tf.gradients` of `tf.gradients`", gradients=True)
def test_gradients_of_gradients_without_a_tape(runs, w):
    @tf.function
    def second(x, run):
        return tf.gradients(tf.norm(tf.gradients(run(x), x)), [x, w])

    assert_same_second(second, runs, w)


@pytest.mark.slow
@both_ways
@feature(
    "gradients of gradients: a Hessian, by `tape.jacobian` with "
    "`experimental_use_pfor=False`",
    gradients=True,
)
def test_a_hessian(way, runs, w):
    @way
    def hessian(x, run):
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = run(x)
            slopes = inner.gradient(y, x)
        return outer.jacobian(slopes, [x, w], experimental_use_pfor=False)

    assert_same_second(hessian, runs, w)


def tangent(run, x, source):
    """Returns how run(x) changes where all of a source does."""
    with tf.autodiff.ForwardAccumulator(source, tf.ones_like(source)) as forward:
        y = run(x)
    return forward.jvp(y)


@feature(
    "forward mode: `tf.autodiff.ForwardAccumulator` around an eager root call, or "
    "around a function that makes it and was traced before",
    gradients=True,
)
def test_forward_mode(runs, w):
    recurse, loop = runs
    x = tf.constant(X)
    function = tf.function(recurse)
    function(x)
    for source in (w, x):
        expected = tangent(loop, x, source)
        assert_close(tangent(recurse, x, source), expected)
        assert_close(tangent(function, x, source), expected)


@pytest.mark.parametrize("by", ["tensor", "variable"])
@feature(
    "forward mode: `tf.autodiff.ForwardAccumulator` in a `tf.function`, around a root "
    "call",
    raises=NotImplementedError,
    says="no derivative in forward mode",
)
def test_forward_mode_in_a_function(by, runs, w):
    recurse, _ = runs
    tf.function(lambda x: tangent(recurse, x, x if by == "tensor" else w))(
        tf.constant(X)
    )


# --- By what


@feature("by tensors that a body captures", gradients=True)
def test_captured_tensors():
    scale, matrix = tf.constant(1.5), tf.constant([[0.5, 1.5], [-1.0, 0.8]])
    step = lambda y, n: tf.sin(tf.linalg.matvec(matrix, y)) * scale  # noqa: E731
    check_rows(step, [X, [1.0, 2.0], [-0.5, 0.7]], scale, matrix)


@feature("by what the function around computed", gradients=True)
def test_tensors_of_the_function_around():
    @tf.function
    def gradients(x, by_recursion):
        with tf.GradientTape() as tape:
            tape.watch(x)
            scale = tf.exp(x)
            step = lambda y, n: tf.sin(y) * scale  # noqa: E731
            run = partial(define_repeat(step, shape=[2]), 3)
            y = run(x) if by_recursion else unroll(step, 3, x)
        return [y, *tape.gradient(y, [x, scale])]

    x = tf.constant(X)
    found, expected = (gradients(x, by_recursion) for by_recursion in (True, False))
    assert_all_close(found, expected)


@feature("by embeddings, as `tf.IndexedSlices`", gradients=True)
def test_embeddings():
    table = tf.Variable(tf.reshape(tf.range(10.0), [5, 2]))
    step = lambda y, n: tf.sin(y) * tf.gather(table, n + 1)  # noqa: E731
    repeat = define_repeat(step, shape=[2])
    with tf.GradientTape() as tape:
        y = repeat(2, X)
    assert isinstance(tape.gradient(y, table), tf.IndexedSlices)
    check_rows(step, [X, [1.0, 2.0], [-0.5, 0.7]], table)


@feature("unconnected gradients: None, or zeros if that is asked for", gradients=True)
def test_unconnected_gradients(runs, w):
    other = tf.Variable([1.0, 2.0])
    x = tf.constant(X)
    for run in runs:
        with tf.GradientTape(persistent=True) as tape:
            y = run(x)  # The tape does not watch x.
        assert tape.gradient(y, [x, other]) == [None, None]
        zeros = tape.gradient(y, [x, other, w], unconnected_gradients="zero")
        assert_all_close(zeros[:2], [tf.zeros([2]), tf.zeros([2])])
        assert_close(zeros[2], tape.gradient(y, w))


# --- Ops that change a gradient


@feature("`tf.stop_gradient`", gradients=True)
def test_a_stopped_gradient():
    weight, stopped = tf.Variable(1.5), tf.Variable(0.5)

    def step(y, n):
        fixed = tf.stop_gradient(y * stopped)
        return tf.sin(y) * weight + fixed * tf.cast(n, tf.float32)

    check_rows(step, [0.5, -1.0, 2.0], weight, stopped)


@feature(
    "a value of an op without a gradient: `tf.argmax`, `tf.round`, casts to integers",
    gradients=True,
)
def test_ops_without_gradients():
    weight = tf.Variable([1.5, 0.5])

    def step(y, n):
        place = tf.argmax(y) + tf.cast(tf.round(y[0]), tf.int64)
        return tf.sin(y * weight) + tf.cast(place, tf.float32) + tf.cast(n, tf.float32)

    check_call(step, X, weight)


@feature(
    "a gradient that a body takes of its own ops, by `tf.gradients`", gradients=True
)
def test_a_gradient_in_a_body():
    weight = tf.Variable(1.5)

    def step(y, n):
        # A tape would not do in plain eager code, where the oracle runs.
        slope = tf.function(lambda z: tf.gradients(tf.sin(z * weight), z)[0])
        return slope(y) + tf.cast(n, tf.float32)

    check_rows(step, [0.5, -1.0, 2.0], weight)


@pytest.mark.parametrize(
    "reduction", [tf.nn.softmax, tf.nn.log_softmax, tf.nn.l2_normalize]
)
@feature("activations and normalizations of `tf.nn`", gradients=True)
def test_activations(reduction):
    weight = tf.Variable([1.5, 0.5])
    check_call(
        lambda y, n: reduction(tf.nn.gelu(y * weight)) * tf.cast(n, y.dtype), X, weight
    )


@tf.custom_gradient
def tripled(y):
    return tf.identity(y), lambda upstream: 3.0 * upstream


CUSTOM = {
    "custom_gradient": tripled,
    "silu": tf.nn.silu,
    "grad_pass_through": tf.grad_pass_through(tf.round),
    "recompute_grad": tf.recompute_grad(lambda z: tf.sin(z) * tf.cos(2.0 * z)),
}


@pytest.mark.parametrize("function", CUSTOM.values(), ids=CUSTOM)
@feature(
    "`tf.custom_gradient`, `tf.nn.silu`, `tf.grad_pass_through`, `tf.recompute_grad`",
    gradients=True,
)
def test_custom_gradients(function):
    weight = tf.Variable(1.5)
    check_rows(
        lambda y, n: function(y * weight) * tf.cast(n, y.dtype),
        [0.5, -1.0, 2.0],
        weight,
        order=1 if function is CUSTOM["recompute_grad"] else 2,
    )
