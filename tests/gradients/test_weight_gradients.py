"""Gradients of what a body uses of the outside, by what it is and how it is used."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.close import assert_all_close

pytestmark = [pytest.mark.every_executor, pytest.mark.slow]

DEPTH = 3
X = np.array([[0.5, -1.0]], np.float32)
MATRIX = np.array([[0.5, 1.5], [-1.0, 0.8]], np.float32)


def chain(step):
    """Returns row, n -> step(...step(row)), n times, as a SubGraph."""
    with rtf.SubGraph("chain") as f:
        row, n = f.input(tf.float32, [1, 2]), f.input(tf.int32)
        result = tf.cond(n < 1, lambda: row, lambda: step(f(row, n - 1)))
        f.output(tf.ensure_shape(result, [1, 2]))
    return f


def unroll(step, row):
    for _ in range(DEPTH):
        row = step(row)
    return row


def slopes(function, sources):
    """Returns the gradients, by each of `sources` and by the input."""
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch([x, *(s for s in sources if isinstance(s, tf.Tensor))])
        loss = tf.reduce_sum(function(x) * tf.constant([[1.0, -2.0]]))
    return tape.gradient(loss, [x, *sources])


def assert_same(recursive, unrolled, *sources):
    found = slopes(tf.function(recursive), sources)
    assert_all_close(found, slopes(unrolled, sources))


def assert_same_both_ways(recursive, unrolled, *sources):
    """Eagerly too."""
    assert_same(recursive, unrolled, *sources)
    assert_all_close(slopes(recursive, sources), slopes(unrolled, sources))


# --- How a weight is used


@pytest.fixture
def w():
    return tf.Variable(MATRIX)


USES = {
    "x w": lambda w, x: tf.matmul(x, w),
    "x wT": lambda w, x: tf.matmul(x, w, transpose_b=True),
    "xTT w": lambda w, x: tf.matmul(tf.transpose(x), w, transpose_a=True),
    "xTT wT": lambda w, x: tf.matmul(
        tf.transpose(x), w, transpose_a=True, transpose_b=True
    ),
    "w x": lambda w, x: tf.transpose(tf.matmul(w, tf.transpose(x))),
    "wT x": lambda w, x: tf.transpose(tf.matmul(w, tf.transpose(x), transpose_a=True)),
    "w xT": lambda w, x: tf.transpose(tf.matmul(w, x, transpose_b=True)),
    "wT xT": lambda w, x: tf.transpose(
        tf.matmul(w, x, transpose_a=True, transpose_b=True)
    ),
    "x adjoint(w)": lambda w, x: tf.matmul(x, w, adjoint_b=True),
    "matvec": lambda w, x: tf.linalg.matvec(w, x[0])[tf.newaxis],
    "matvec, transposed": lambda w, x: tf.linalg.matvec(w, x[0], transpose_a=True)[
        tf.newaxis
    ],
    "einsum": lambda w, x: tf.einsum("ab,bc->ac", x, w),
    "einsum, two weights": lambda w, x: tf.einsum("ab,bc,dc->ad", x, w, w),
    "tensordot": lambda w, x: tf.tensordot(x, w, 1),
    "bias": lambda w, x: x + w[0],
    "bias_add": lambda w, x: tf.nn.bias_add(x, w[0]),
    "element by element": lambda w, x: x * tf.linalg.diag_part(w),
    "a scalar of it": lambda w, x: tf.sin(x * w[0, 1]),
    "its sum": lambda w, x: x * tf.reduce_sum(w),
    "its transpose": lambda w, x: x @ tf.transpose(w),
    "its square": lambda w, x: x @ (w @ w),
    "its product with itself": lambda w, x: x @ w @ w,
    "the identity of it": lambda w, x: x @ tf.identity(tf.identity(w)),
    "the value that was read": lambda w, x: x @ tf.convert_to_tensor(w),
    "rows of it": lambda w, x: x * tf.gather(w, 1),
    "rows of it by computed numbers": lambda w, x: (
        x * tf.gather(w, tf.argmax(x[0], output_type=tf.int32))
    ),
    "several rows of it": lambda w, x: x @ tf.gather(w, [1, 0]),
    "one row of it twice": lambda w, x: x @ tf.gather(w, [1, 1]),
    "columns of it": lambda w, x: x * tf.gather(w, 1, axis=1),
    "elements of it": lambda w, x: x * tf.gather_nd(w, [[0, 1], [1, 1]]),
    "embedding_lookup": lambda w, x: x * tf.nn.embedding_lookup(w, 1),
    "rows and a product": lambda w, x: (x * tf.gather(w, 1)) @ w,
    "rows and a bias": lambda w, x: x * tf.gather(w, 1) + w[0],
    "a product and a bias": lambda w, x: x @ w + w[1],
    "two products": lambda w, x: tf.sin(x @ w) + tf.matmul(x, w, transpose_b=True),
    "a product in a loop": lambda w, x: repeat(lambda y: y @ w, x),
    "rows in a loop": lambda w, x: repeat(lambda y: y * tf.gather(w, 1), x),
    "rows in a loop in a loop": lambda w, x: repeat(
        lambda y: repeat(lambda z: z * tf.gather(w, 1), y), x
    ),
    "a product inside and outside of a loop": lambda w, x: repeat(
        lambda y: y @ w, x @ w
    ),
    "rows in a branch": lambda w, x: tf.cond(
        x[0, 0] > 0, lambda: x * tf.gather(w, 0), lambda: x @ w
    ),
    "a product in a function": lambda w, x: tf.function(lambda y: y @ w)(x),
    "rows in a function": lambda w, x: tf.function(lambda y: y * tf.gather(w, 1))(x),
    "the weight as an argument of a function": lambda w, x: tf.function(
        lambda y, v: y @ v
    )(x, tf.convert_to_tensor(w)),
    "a convolution": lambda w, x: tf.nn.conv1d(
        x[..., tf.newaxis], w[:, tf.newaxis, :1], 1, "SAME"
    )[..., 0],
    "a batch of products": lambda w, x: tf.matmul(x[tf.newaxis], w[tf.newaxis])[0],
    "a sparse product": lambda w, x: (
        tf.sparse.sparse_dense_matmul(tf.sparse.from_dense([[0.0, 1.0]]), w) * x
    ),
}


def repeat(step, x):
    return tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, step(y)), (0, x))[1]


@pytest.mark.parametrize("use", USES)
def test_a_weight_has_the_gradient_of_the_unrolled_program(use, w):
    def step(x):
        return USES[use](w, x)

    f = chain(step)
    assert_same(lambda x: f(x, DEPTH), lambda x: unroll(step, x), w)


def test_a_weight_that_is_used_outside_too(w):
    f = chain(lambda x: tf.tanh(x @ w))
    assert_same(
        lambda x: f(x @ w, DEPTH) @ w,
        lambda x: unroll(lambda y: tf.tanh(y @ w), x @ w) @ w,
        w,
    )


def test_a_weight_that_two_subgraphs_use(w):
    first, second = chain(lambda x: tf.tanh(x @ w)), chain(lambda x: x @ w + w[0])
    assert_same(
        lambda x: second(first(x, DEPTH), DEPTH),
        lambda x: unroll(lambda y: y @ w + w[0], unroll(lambda y: tf.tanh(y @ w), x)),
        w,
    )


def test_a_keras_layer():
    layer = tf.keras.layers.Dense(2, activation="tanh")
    layer.build([None, 2])
    f = chain(layer)
    assert_same(
        lambda x: f(x, DEPTH), lambda x: unroll(layer, x), *layer.trainable_variables
    )


# --- What an outer tensor is


def test_a_small_and_a_big_eager_tensor_have_gradients():
    """TensorFlow makes constants of small ones where it captures them itself."""
    small, big = tf.constant([0.5, 2.0]), tf.ones([100, 2])

    def step(x):
        return x * small + tf.reduce_mean(big, 0)

    f = chain(step)
    assert_same_both_ways(lambda x: f(x, DEPTH), lambda x: unroll(step, x), small, big)


def test_a_tensor_that_the_function_computed_has_a_gradient(w):
    def recursive(x):
        product = w @ w
        return chain(lambda y: y @ product)(x, DEPTH)

    assert_same(recursive, lambda x: unroll(lambda y: y @ (w @ w), x), w)


def test_an_argument_of_the_function_that_a_body_uses_has_a_gradient():
    def recursive(x):
        return chain(lambda y: y * x)(x, DEPTH)

    assert_same(recursive, lambda x: x ** (DEPTH + 1))


def test_an_eager_tensor_that_the_function_uses_too_has_a_gradient():
    outer = tf.constant([[0.5, 2.0]])
    f = chain(lambda y: y * outer)
    assert_same_both_ways(lambda x: f(x, DEPTH) * outer, lambda x: x * outer**4, outer)


def test_an_outer_tensor_that_is_watched_after_the_definition_has_a_gradient():
    outer = tf.constant([[0.5, 2.0]])
    f = chain(lambda y: y * outer)
    f(tf.constant(X), DEPTH)
    assert_same_both_ways(lambda x: f(x, DEPTH), lambda x: x * outer**DEPTH, outer)


def test_a_variable_that_changes_between_steps_is_read_anew(w):
    f = tf.function(chain(lambda x: x @ w))
    for scale in (1.0, -2.0):
        w.assign(scale * MATRIX)
        assert_same_both_ways(
            lambda x: f(x, DEPTH), lambda x: unroll(lambda y: y @ w, x), w
        )


def test_a_variable_that_changes_after_the_call_does_not_change_its_gradient(w):
    f = chain(lambda x: x @ w)
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, DEPTH)
    w.assign(tf.zeros([2, 2]))
    by_x = tape.gradient(y, x)
    expected = np.ones([1, 2]) @ np.linalg.matrix_power(MATRIX, DEPTH).T
    np.testing.assert_allclose(by_x, expected, rtol=1e-5)


def test_a_variable_that_is_not_trainable_has_none():
    w = tf.Variable(MATRIX, trainable=False)
    f = chain(lambda x: x @ w)
    by_x, by_w = slopes(lambda x: f(x, DEPTH), [w])
    assert by_x is not None
    assert by_w is None


def test_integers_of_the_outside_have_none():
    rows, w = tf.Variable([1, 0]), tf.Variable(MATRIX)

    def step(x):
        return x * tf.gather(w, rows[0])

    f = chain(step)
    assert slopes(lambda x: f(x, DEPTH), [rows])[1] is None
    assert_same_both_ways(lambda x: f(x, DEPTH), lambda x: unroll(step, x), w)


# --- Sparse gradients


TABLE = np.arange(12.0, dtype=np.float32).reshape(6, 2) / 10


def look_up(table, where="body"):
    """Returns n -> the sum of the rows n, n - 1, ..., 0, by a lookup in each call."""
    with rtf.SubGraph("look_up") as f:
        n = f.input(tf.int32)
        row = tf.gather(table, n) if where == "body" else None

        def get():
            return tf.gather(table, n) if row is None else row

        f.output(tf.cond(n < 1, get, lambda: get() + f(n - 1)))
    return f


@pytest.mark.parametrize("where", ["body", "branch"])
@pytest.mark.parametrize("kind", [tf.Variable, tf.constant])
def test_an_embedding_has_a_sparse_gradient(kind, where):
    table = kind(TABLE)
    f = look_up(table, where)
    with tf.GradientTape() as tape:
        tape.watch(table)
        y = f(DEPTH)
    found = tape.gradient(y, table)
    assert isinstance(found, tf.IndexedSlices)
    assert sorted(found.indices.numpy()) == [0, 1, 2, 3]
    np.testing.assert_array_equal(found.values, np.ones([4, 2]))
    np.testing.assert_array_equal(found.dense_shape, [6, 2])


def test_a_sparse_gradient_has_each_row_once():
    table = tf.Variable(TABLE)
    f = look_up(table)
    with tf.GradientTape() as tape:
        y = f.map([2, 0, 2])
    found = tape.gradient(y, table)
    assert isinstance(found, tf.IndexedSlices)
    assert sorted(found.indices.numpy()) == [0, 1, 2]


def test_two_lookups_in_a_body_make_one_sparse_gradient():
    table = tf.Variable(TABLE)
    with rtf.SubGraph("twice") as twice:
        n = twice.input(tf.int32)
        twice.output(tf.gather(table, n) * tf.gather(table, tf.cast(n + 1, tf.int64)))
    with tf.GradientTape() as tape:
        y = twice(2)
    found = tape.gradient(y, table)
    assert isinstance(found, tf.IndexedSlices)
    expected = np.zeros([6, 2])
    expected[2], expected[3] = TABLE[3], TABLE[2]
    assert_all_close(found, expected.astype(np.float32))


def test_an_optimizer_changes_only_the_rows_that_were_looked_up():
    table = tf.Variable(TABLE)
    f = look_up(table)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(f(1))
        table.scatter_sub(tape.gradient(loss, table))

    step()
    changed = np.flatnonzero((table.numpy() != TABLE).any(1))
    np.testing.assert_array_equal(changed, [0, 1])


def test_a_lookup_beside_a_dense_use_makes_a_dense_gradient():
    table = tf.Variable(TABLE)
    with rtf.SubGraph("both") as both:
        n = both.input(tf.int32)
        both.output(tf.gather(table, n) + tf.reduce_sum(table, 0))
    with tf.GradientTape() as tape:
        y = both(2)
    expected = np.ones([6, 2], np.float32)
    expected[2] += 1
    assert_all_close(tape.gradient(y, table), expected)


@pytest.mark.falls_back("an unknown shape")
def test_an_embedding_of_unknown_size_has_a_gradient():
    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def slope(table):
        return tf.gradients(look_up(table)(DEPTH), table)[0]

    found = tf.convert_to_tensor(slope(tf.constant(TABLE)))
    np.testing.assert_array_equal(found, [[1, 1]] * 4 + [[0, 0]] * 2)
