"""Gradients that functions have of their own: `tf.custom_gradient`, and overrides."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python import tf_compat
from tests.helpers import unrolled
from tests.helpers.failures import message_of
from tests.helpers.unrolled import define_repeat, differentiated

check_rows, check_call = unrolled.check_rows, unrolled.check_call

ROWS = [[0.5, -1.0, 2.0], [0.1, 0.2, 0.3], [1.0, 1.5, -0.5]]
LARGE = tf.range(1000.0)


@pytest.fixture
def w():
    return tf.Variable(1.5)


@pytest.fixture
def matrix():
    return tf.Variable(tf.random.stateless_normal([3, 3], [1, 2]))


@tf.custom_gradient
def clipped(x):
    return tf.identity(x), lambda dy: tf.clip_by_value(dy, -0.5, 0.5)


@tf.custom_gradient
def softplus(x):
    """Its gradient uses a value of the body that its op does not take."""
    e = tf.exp(x)
    return tf.math.log(1.0 + e), lambda dy: dy * (1.0 - 1.0 / (1.0 + e))


@tf.custom_gradient
def with_its_own_value(x):
    """What its gradient uses, nothing else does."""
    slope = tf.cos(x) * 3.0
    return tf.sin(x), lambda dy: dy * slope


@tf.custom_gradient
def two_of_two(x, w):
    a = tf.sin(x) * w

    def gradient(da, db):
        return da * a + 2.0 * db, 2.0 * tf.reduce_sum(da * x + db * a)

    return (a, x * a), gradient


@tf.custom_gradient
def product(x, matrix):
    y = tf.linalg.matvec(matrix, x)

    def gradient(dy):
        by_matrix = 2.0 * dy[:, tf.newaxis] * x[tf.newaxis]
        return tf.linalg.matvec(matrix, dy, transpose_a=True), by_matrix

    return y, gradient


@tf.custom_gradient
def with_an_index(x):
    return (x * 2.0, tf.argmax(x)), lambda dy, _: 5.0 * dy


@tf.custom_gradient
def with_a_constant(x):
    return tf.identity(x), lambda dy: dy * LARGE[2]


@tf.custom_gradient
def without(x):
    return x * 2.0, lambda dy: tf.zeros_like(dy)


@tf.custom_gradient
def looping(x):
    def gradient(dy):
        return tf.while_loop(lambda i, _: i < 3, lambda i, g: (i + 1, g * x), (0, dy))[
            1
        ]

    return tf.identity(x), gradient


@tf_compat.RegisterGradient("GuidedForTest")
def _guided(op, dy):
    return dy * tf.cast(dy > 0.0, dy.dtype) * op.outputs[0] + op.inputs[0]


def _overridden(x):
    """A gradient that is registered, and that reads the op."""
    with tf_compat.default_graph().gradient_override_map({"Tanh": "GuidedForTest"}):
        return tf.tanh(x)


FUNCTIONS = {
    "clipped": clipped,
    "a value of the body": softplus,
    "a value of its own": with_its_own_value,
    "a constant": with_a_constant,
    "zero": without,
    "an index beside": lambda x: with_an_index(x)[0],
    "an index that is used": lambda x: x * tf.cast(with_an_index(x)[1], x.dtype),
    "one of another": lambda x: clipped(softplus(clipped(x))),
    "a loop": looping,
    "silu": tf.nn.silu,
    "Keras's silu": tf.keras.activations.silu,
    "recompute_grad": tf.recompute_grad(lambda x: tf.sin(x) * tf.cos(2.0 * x)),
}


# Their gradients have none, or none that anybody knows.
NOT_LINEAR = ("clipped", "one of another", "a loop", "recompute_grad")


@pytest.mark.every_executor
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions_of_an_activation(function, w):
    order = 1 if any(function is FUNCTIONS[name] for name in NOT_LINEAR) else 2
    check_rows(lambda y, n: function(y * w) * tf.cast(n, y.dtype), ROWS, w, order=order)


PLACES = {
    "a branch": lambda y, n: tf.cond(
        n % 2 < 1, lambda: softplus(y), lambda: clipped(y)
    ),
    "a loop": lambda y, n: tf.while_loop(
        lambda i, _: i < n, lambda i, z: (i + 1, softplus(z * 0.5)), (0, y)
    )[1],
    "a loop of three turns": lambda y, n: tf.while_loop(
        lambda i, _: i < 3, lambda i, z: (i + 1, softplus(z * 0.5)), (0, y)
    )[1],
    "a function": lambda y, n: tf.function(softplus)(y),
}


@pytest.mark.every_executor
@pytest.mark.parametrize("step", PLACES.values(), ids=PLACES)
def test_places_in_a_body(step, w):
    order = 1 if step is PLACES["a branch"] else 2
    check_rows(lambda y, n: step(y * w, n), ROWS, w, order=order)


def turns(body):
    """Returns a step of two turns, which know a number and what came before them."""
    return lambda y, n: tf.while_loop(
        lambda i, _: i < 2, lambda i, z: (i + 1, body(n, y, z)), (0, y * 0.5)
    )[1]


# Of a number, a value from before the loop, and the loop's. TensorFlow alone has no
# gradient of any of them.
CONDITIONALS_IN_A_LOOP = {
    "cond": lambda n, y, z: tf.cond(n < 1, lambda: tf.sin(z), lambda: softplus(z)),
    "switch_case": lambda n, y, z: tf.switch_case(
        n, [lambda: softplus(z), lambda: clipped(z), lambda: with_its_own_value(z)]
    ),
    "of a value from before it": lambda n, y, z: (
        z * tf.cond(n < 1, lambda: softplus(y), lambda: tf.sin(y))
    ),
    "in another": lambda n, y, z: tf.cond(
        n < 2, lambda: tf.cond(n < 1, lambda: softplus(z * y), lambda: z), lambda: y
    ),
    "in a loop in it": lambda n, y, z: turns(
        lambda n, y, v: tf.cond(n < 2, lambda: softplus(y) + v, lambda: v)
    )(z, n),
}


@pytest.mark.every_executor
@pytest.mark.parametrize(
    "body", CONDITIONALS_IN_A_LOOP.values(), ids=CONDITIONALS_IN_A_LOOP
)
def test_conditionals_in_a_loop(body, w):
    check_rows(lambda y, n: turns(body)(y * w, n), ROWS, w, order=1)


@pytest.mark.every_executor
def test_a_gradient_in_a_loop_uses_a_value_from_before_it(w):
    def step(y, n):
        del n
        factor = tf.cos(y)

        @tf.custom_gradient
        def scaled(z):
            return z * factor, lambda dy: dy * factor * 2.0

        turn = lambda i, z: (i + 1, scaled(z * w))  # noqa: E731
        return tf.while_loop(lambda i, _: i < 3, turn, (0, y))[1]

    check_rows(step, ROWS, w)


@pytest.mark.every_executor
def test_a_gradient_uses_what_a_call_returned(w):
    """It is there before another call, and used after that."""
    with rtf.SubGraph("f") as f:
        n, x = f.input(tf.int32), f.input(tf.float32, [3])

        def more():
            first = f(n - 1, x * w)

            @tf.custom_gradient
            def scaled(z):
                return tf.sin(z), lambda dy: dy * first

            return scaled(f(n - 2, first))

        f.output(tf.cond(n < 1, lambda: x, more))

    def by_hand(n, x):
        if n < 1:
            return x
        first = by_hand(n - 1, x * w)

        @tf.custom_gradient
        def scaled(z):
            return tf.sin(z), lambda dy: dy * first

        return scaled(by_hand(n - 2, first))

    x = tf.constant(ROWS[0])
    found = differentiated(lambda x: f(4, x), x, [w])
    expected = differentiated(lambda x: by_hand(4, x), x, [w])
    for one, other in zip(found, expected, strict=True):
        tf.debugging.assert_near(one, other, 1e-5, 1e-5)


@pytest.mark.every_executor
def test_gradients_by_what_all_activations_share(w, matrix):
    check_rows(lambda y, n: sum(two_of_two(y, w)), ROWS, w)
    check_rows(lambda y, n: two_of_two(y, w)[0] + y, ROWS, w)
    check_rows(lambda y, n: product(y, matrix) * w, ROWS, w, matrix)
    check_rows(lambda y, n: product(tf.tanh(y), tf.sin(matrix)), ROWS, matrix)
    check_call(lambda y, n: product(product(y, matrix), matrix), ROWS[0], matrix)


@pytest.mark.every_executor
def test_functions_of_what_all_activations_share(w):
    check_rows(lambda y, n: y * softplus(w * 1.0) + clipped(w * 2.0), ROWS, w, order=1)


# Of a number, and what all activations share, as everything here is.
SHARED_CONDITIONALS = {
    "cond": lambda k, z: tf.cond(k < 1, lambda: clipped(softplus(z)), lambda: z),
    "switch_case": lambda k, z: tf.switch_case(
        k + 0, [lambda: tf.tanh(clipped(z)), lambda: z]
    ),
    "the other branch": lambda k, z: tf.cond(k > 0, lambda: clipped(z), lambda: 2 * z),
    "one that is known": lambda _, z: tf.cond(
        tf.constant(True), lambda: clipped(z), lambda: z
    ),
    "one in another": lambda k, z: tf.cond(
        k < 1,
        lambda: tf.cond(k < 2, lambda: 3 * clipped(tf.sin(z)), lambda: z),
        lambda: z,
    ),
    "a loop in it": lambda k, z: tf.cond(
        k < 1,
        lambda: tf.while_loop(
            lambda i, _: i < 2, lambda i, y: (i + 1, clipped(y)), (0, z)
        )[1],
        lambda: z,
    ),
}


@pytest.mark.every_executor
@pytest.mark.parametrize(
    "conditional", SHARED_CONDITIONALS.values(), ids=SHARED_CONDITIONALS
)
def test_conditionals_of_what_all_activations_share(conditional, w):
    chosen = tf.Variable(0)
    check_rows(lambda y, n: y * conditional(chosen, w * 2.0), ROWS, w, order=1)


@pytest.mark.every_executor
def test_a_body_that_reads_nothing_of_its_activation(w):
    with rtf.SubGraph("ends") as ends:
        n = ends.input(tf.int32)
        end, more = lambda: clipped(w * 2.0), lambda: 3.0 * ends(n - 1)
        ends.output(tf.cond(n < 1, end, more))
    with tf.GradientTape() as tape:
        found = ends.map([0, 2, 1])
    tf.debugging.assert_near(found, [3.0, 27.0, 9.0])
    # Each activation clips 1, 9 and 3.
    tf.debugging.assert_near(tape.gradient(found, w), 3 * 0.5 * 2.0)


@pytest.mark.every_executor
def test_a_gradient_that_ops_of_a_type_are_given_reads_the_op(w):
    def step(y, n):
        if not tf.executing_eagerly():
            return _overridden(y * w)
        # What overrides has none outside of a graph.
        graphed = tf.custom_gradient(
            lambda x: (tf.tanh(x), lambda dy: _guided_by_hand(x, dy))
        )
        return graphed(y * w)

    check_rows(step, ROWS, w, order=1)


def _guided_by_hand(x, dy):
    return dy * tf.cast(dy > 0.0, dy.dtype) * tf.tanh(x) + x


def test_such_programs_are_batched(w):
    repeat = define_repeat(lambda y, n: softplus(tf.nn.silu(y * w)), shape=[3])
    repeat.map([3, 0, 2], tf.constant(ROWS))
    assert rtf.explain(repeat).executor == "batched"


def test_a_gradient_that_reads_a_variable_of_its_own_is_not_batched(w):
    @tf.custom_gradient
    def scaled(y):
        return tf.identity(y), lambda dy: dy * w

    repeat = define_repeat(lambda y, n: scaled(y), shape=[3], executor="batched")
    x = tf.constant(ROWS[0])
    tf.debugging.assert_equal(repeat(2, x), x)  # Nobody has asked for a gradient.
    message = message_of(lambda: differentiated(lambda x: repeat(2, x), x))
    assert "which uses a variable that the op does not take" in message
    assert "test_own_gradients.py:" in message


def test_a_gradient_that_uses_a_tensor_of_the_outside_alone_is_not_batched(w):
    @tf.function
    def slopes(x, factor):
        @tf.custom_gradient
        def scaled(y):
            return tf.identity(y), lambda dy: dy * factor

        choices = {"shape": [3], "executor": "batched"}
        repeat = define_repeat(lambda y, n: scaled(y * w), **choices)
        return differentiated(lambda x: repeat(2, x), x, [w])

    message = message_of(lambda: slopes(tf.constant(ROWS[0]), tf.constant(3.0)))
    assert "and the SubGraph does not. Make it an argument" in message
    assert "test_own_gradients.py:" in message


def test_own_gradients_of_several_shapes_are_an_error_that_says_both():
    x = tf.ones([3])

    with rtf.SubGraph("sums", executor="dataflow") as f:
        n = f.input(tf.int32)

        @tf.custom_gradient
        def total(x):
            return tf.reduce_sum(x), lambda dy: dy * tf.ones([n + 1])

        f.output(tf.cond(n < 1, lambda: total(x), lambda: total(x) + f(n - 1)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(2)
    expected = "SubGraph 'sums' failed .* two gradients of one value .* a tf.custom"
    with pytest.raises(tf.errors.InvalidArgumentError, match=expected):
        tape.gradient(y, x)


def test_an_own_gradient_that_is_too_wide_cannot_be_batched():
    with rtf.SubGraph("wide", executor="batched") as f:
        x, n = f.input(tf.TensorSpec([3])), f.input(tf.int32)

        @tf.custom_gradient
        def halved(x):
            return x / 2.0, lambda dy: tf.concat([dy, dy], 0)

        f.output(tf.cond(n < 1, lambda: x, lambda: f(halved(x), n - 1)))
    x = tf.ones([3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(rtf.SubGraphError, match=r"shape \(\d+, 6\) for an input"):
            f(x, 2)
