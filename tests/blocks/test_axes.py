"""Rows of several axes: what is computed along any of them."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.blocks.compared import rows_and_gradient

MATRIX = tf.constant(np.linspace(-1.0, 1.0, 20).reshape(4, 5), tf.float32)
TENSOR = tf.constant(np.sin(np.arange(24.0)).reshape(2, 3, 4), tf.float32)
COLUMN = tf.constant([[0.5], [-1.0], [2.0]])


def values_of(body, rows, blocks):
    """Returns rows and their gradient, which is not the same for all of them."""
    return rows_and_gradient(lambda row: tf.sin(body(row)), rows, blocks)


def plain_values_of(body, rows):
    """Returns the same without this library, row by row."""
    with tf.GradientTape() as tape:
        tape.watch(rows)
        value = tf.stack([tf.sin(body(row)) for row in tf.unstack(rows)])
    return [value, tape.gradient(value, rows)]


def check(body, shape, dtype=tf.float32):
    """Compares block programs with TensorFlow's kernels, and with plain TensorFlow."""
    rows = tf.random.stateless_normal([7, *shape], [1, 2], dtype=dtype)
    found = values_of(body, rows, "compiled")
    for expected in (values_of(body, rows, "tensorflow"), plain_values_of(body, rows)):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


BROADCASTS = {
    "a column": lambda x: x * x[:, :1],
    "a row": lambda x: x - x[1:2],
    "a row and a column": lambda x: x[:1] * x[:, 1:2],
    "the same column for all": lambda x: x + COLUMN,
    "the same matrix for all": lambda x: x[:, :1] * tf.ones([3, 4]),
    "more columns than a row has": lambda x: x[0, :1] * MATRIX[0],
    "a vector repeated": lambda x: x * MATRIX[:, 0],
    "choices": lambda x: tf.where(x[:, :1] > 0.0, x, -2.0 * x),
    "an outer product": lambda x: x[0][:, None] * x[1][None],
    "to": lambda x: tf.broadcast_to(x[:, 1:2], [3, 6]) * tf.broadcast_to(x[0, 0], [6]),
    "tile": lambda x: tf.tile(x, [2, 3]),
    "repeat": lambda x: tf.repeat(x, 2, axis=1),
}


@pytest.mark.parametrize("body", BROADCASTS.values(), ids=BROADCASTS)
def test_broadcasts(body):
    check(body, [3, 4])


REDUCTIONS = {
    "the first": lambda x: tf.reduce_sum(x, 0),
    "the middle": lambda x: tf.reduce_mean(x, 1),
    "the last": lambda x: tf.reduce_max(x, 2),
    "the first and the last": lambda x: tf.reduce_mean(x, [0, 2]),
    "the first two": lambda x: tf.reduce_min(x, [0, 1]),
    "the last two": lambda x: tf.reduce_sum(x, [1, 2]),
    "kept": lambda x: x - tf.reduce_mean(x, [0, 2], keepdims=True),
    "kept largest": lambda x: x / (3.0 + tf.reduce_max(x * x, 1, keepdims=True)),
    "variance": lambda x: tf.nn.moments(x, [1])[1],
    "of bools": lambda x: tf.where(tf.reduce_any(x > 0.5, 2, keepdims=True), x, -x),
    "logsumexp": lambda x: tf.reduce_logsumexp(x, 1),
}


@pytest.mark.parametrize("body", REDUCTIONS.values(), ids=REDUCTIONS)
def test_reductions_along_axes(body):
    check(body, [2, 3, 4])


SOFTMAXES = {
    "the last axis": tf.nn.softmax,
    "the first axis": lambda x: tf.nn.softmax(x, 0),
    "a logarithm": lambda x: tf.nn.log_softmax(x) * x,
    "sums": lambda x: tf.cumsum(x, 0) * tf.cumsum(x, 1, exclusive=True, reverse=True),
}


@pytest.mark.parametrize("body", SOFTMAXES.values(), ids=SOFTMAXES)
def test_softmax_and_sums_along_an_axis(body):
    check(body, [3, 5])


MOVES = {
    "an inner slice": lambda x: x[:, 1:, ::2],
    "backwards": lambda x: x[::-1, 1, ::-2],
    "slices": lambda x: tf.slice(x, [0, 1, 2], [-1, 2, -1]),
    "concat": lambda x: tf.concat([x, x[:, :1], tf.sin(x)], 1),
    "stack": lambda x: tf.stack([x, -x], 2),
    "unstack": lambda x: tf.add_n([i * y for i, y in enumerate(tf.unstack(x, axis=1))]),
    "split": lambda x: tf.concat(tf.split(x, 2, axis=2)[::-1], 2),
    "sizes": lambda x: tf.concat(tf.split(x, [1, -1], axis=1)[::-1], 1),
    "pad": lambda x: tf.pad(x, [[0, 1], [1, 0], [2, 1]]),
    "transpose": lambda x: x * tf.transpose(tf.transpose(x, [2, 0, 1]), [1, 2, 0]),
    "a matrix transposed": lambda x: tf.transpose(x, [0, 2, 1]),
    "reverse": lambda x: tf.reverse(x, [0, 2]) * x,
    "roll": lambda x: tf.roll(x, [1, -1], [1, 2]) * x,
}


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=["float", "double"])
@pytest.mark.parametrize("body", MOVES.values(), ids=MOVES)
def test_columns_that_stand_elsewhere(body, dtype):
    check(body, [2, 3, 4], dtype)


def test_columns_with_numbers_that_all_rows_share():
    """The gradient is not compiled: it adds up what may be taken several times."""
    rows = tf.random.stateless_normal([7, 2, 4], [1, 2])
    options = rtf.Options(blocks="compiled")
    with rtf.SubGraph("f", executor="batched", options=options) as f:
        x = f.input(tf.TensorSpec([2, 4]))
        f.output(tf.gather(x, [[3, 0], [1, 1]], axis=1))
    explanation = rtf.explain(f)
    found = f.map(rows)
    assert explanation.not_compiled == {}
    np.testing.assert_array_equal(found, tf.gather(rows, [[3, 0], [1, 1]], axis=2))


ZEROS = {
    "a product": lambda x: x @ MATRIX,
    "beside rows": lambda x: x * x[1:2],
    "softmax": tf.nn.softmax,
    "largest": lambda x: tf.reduce_max(x, 1),
    "sums": lambda x: tf.cumsum(x, 0),
    "zeros and zeros": lambda x: x[:3] * x[2:5] + x[3:],
}


@pytest.mark.parametrize("body", ZEROS.values(), ids=ZEROS)
def test_pieces_that_are_the_same_for_all_rows(body):
    check(lambda x: body(tf.pad(x, [[1, 2], [0, 0]])), [3, 4])


PRODUCTS = {
    "with a matrix": lambda x: x @ MATRIX,
    "with one of several axes": lambda x: tf.tensordot(x, TENSOR, [[1], [2]]),
    "with a constant": lambda x: x @ tf.constant([[1.0, 2.0]] * 4),
    "two": lambda x: tf.matmul(x, x, transpose_b=True) @ x,
    "stacks": lambda x: tf.matmul(
        tf.reshape(x, [3, 2, 2]), tf.reshape(x, [3, 2, 2]), transpose_b=True
    ),
    "einsum of vectors": lambda x: tf.einsum("i,i->", x[0], x[1]) * x,
    "einsum, an outer product": lambda x: tf.einsum("i,j->ji", x[0], x[1]),
    "einsum of matrices": lambda x: tf.einsum("ij,kj->ik", x, x),
    "einsum, a letter stays": lambda x: tf.einsum("ij,ij->i", x, tf.sin(x)),
    "einsum of stacks": lambda x: tf.einsum(
        "abc,dbc->bad", tf.reshape(x, [3, 2, 2]), tf.reshape(x, [3, 2, 2])
    ),
}


@pytest.mark.parametrize("body", PRODUCTS.values(), ids=PRODUCTS)
def test_products(body):
    check(body, [3, 4])


def test_heads_of_attention_are_moved_in_runs():
    check(lambda x: tf.einsum("ecd,bcd->cbe", x, tf.sin(x)), [2, 4, 16])
    check(lambda x: tf.einsum("ecd,ced->ecd", x, tf.transpose(x, [1, 0, 2])), [2, 3, 9])


def test_gradients_of_what_all_rows_share():
    """Of a matrix and a bias, whose rows are several in each row."""
    rows = tf.random.stateless_normal([7, 3, 4], [1, 2])
    kernel, bias = tf.Variable(MATRIX), tf.Variable(COLUMN)
    scale = tf.Variable(MATRIX[0])
    weights = [kernel, bias, scale]

    def body(x):
        return tf.tanh(x @ kernel + bias) * scale

    found = []
    for blocks in ("compiled", "tensorflow"):
        options = rtf.Options(blocks=blocks)
        with rtf.SubGraph("f", executor="batched", options=options) as f:
            f.output(body(f.input(tf.TensorSpec([3, 4]))))
        explanation = rtf.explain(f)
        with tf.GradientTape() as tape:
            value = f.map(rows)
        found.append([value, *tape.gradient(value, weights)])
        assert explanation.not_compiled == {} or blocks == "tensorflow"
    with tf.GradientTape() as tape:
        value = body(rows)
    found.append([value, *tape.gradient(value, weights)])
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_nan_and_infinity_stay_in_their_columns():
    rows = tf.constant([[[1.0, np.nan], [np.inf, 2.0], [3.0, -1.0]]])

    def body(x):
        return tf.concat(
            [tf.reduce_max(x, 0), tf.reduce_sum(x, 1), tf.cumsum(x[:, 1])], 0
        )

    found = values_of(body, rows, "compiled")
    for one, other in zip(found, plain_values_of(body, rows), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
