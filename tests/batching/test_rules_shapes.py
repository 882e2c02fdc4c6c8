"""Ops that move values."""

import pytest
import tensorflow as tf

from recursive_tf.python.batching.refusal import CannotBatchError
from tests.batching.interpreter import Compiled, types_of
from tests.batching.rows import (
    CUBE,
    INDEX,
    INDICES,
    SCALAR,
    SQUARE,
    VECTOR,
    assert_rows_are_alike,
    define_body,
    vectorized,
)

MATRIX = tf.random.stateless_normal([3, 3], [7, 7])
NUMBERS = tf.TensorSpec([3], tf.int32)

BODIES = {
    "concat": (lambda x: tf.concat([x, MATRIX[0], x * 2.0], 0), VECTOR),
    "concat along the last": (lambda m: tf.concat([m, m, MATRIX], -1), SQUARE),
    "concat with nothing": (
        lambda x, y: tf.concat([x, y], 0),
        VECTOR,
        tf.TensorSpec([0]),
    ),
    "stack": (lambda x: tf.stack([x, MATRIX[0]], -1), VECTOR),
    "stack of scalars": (lambda s: tf.stack([s, 1.0, s]), SCALAR),
    "unstack": (lambda m: tf.unstack(m, axis=-1)[1] * 2.0, SQUARE),
    "split": (lambda m: tf.split(m, 3, -1)[1], SQUARE),
    "split by sizes": (lambda m: tf.split(m, [1, 2], 1)[1], SQUARE),
    "reshape": (lambda m: tf.reshape(m, [-1]), SQUARE),
    "reshape by a shape": (
        lambda m: tf.reshape(m, tf.shape(MATRIX[tf.newaxis])),
        SQUARE,
    ),
    "expand and squeeze": (lambda x: tf.squeeze(tf.expand_dims(x, 1), 1) * x, VECTOR),
    "transpose": (lambda c: tf.transpose(c, [2, 0, 1]), CUBE),
    "adjoint": (lambda z: tf.linalg.adjoint(z), tf.TensorSpec([2, 3], tf.complex64)),
    "tile": (lambda c: tf.tile(c, [2, 1, 3]), CUBE),
    "repeat": (lambda x: tf.repeat(x, 2), VECTOR),
    "broadcast": (lambda x: tf.broadcast_to(x, [2, 3]), VECTOR),
    "broadcast a text": (
        lambda s: tf.broadcast_to(s, [2]),
        tf.TensorSpec([], tf.string),
    ),
    "fill": (lambda s: tf.fill([2, 3], s), SCALAR),
    "pad": (lambda m: tf.pad(m, [[1, 0], [0, 2]]), SQUARE),
    "pad with a number": (
        lambda m: tf.pad(m, [[1, 0], [0, 2]], constant_values=7.0),
        SQUARE,
    ),
    "reverse": (lambda m: tf.reverse(m, [-1]), SQUARE),
    "roll": (lambda m: tf.roll(m, 1, -1), SQUARE),
    "roll two axes": (lambda c: tf.roll(c, [1, -1], [0, 2]), CUBE),
    "one hot": (lambda n: tf.one_hot(n, 4), INDEX),
    "one hot along an axis": (lambda n: tf.one_hot(n, 4, axis=0), NUMBERS),
    "one hot with values of the row": (
        lambda n, x: tf.one_hot(n, 4, x, 0.0),
        *(NUMBERS, SCALAR),
    ),
    "a constant range": (lambda s: tf.range(5.0) * s, SCALAR),
    "equal steps": (lambda s: tf.linspace(s, s + 1.0, 5), SCALAR),
    "a mask of lengths": (lambda n: tf.sequence_mask(n, 4), NUMBERS),
    "zeros like": (lambda x: tf.zeros_like(x) + x, VECTOR),
    "size": (lambda x: x * tf.cast(tf.size(x), tf.float32), VECTOR),
    "two shapes": (
        lambda x, m: tf.raw_ops.ShapeN(input=[x, m])[1] * tf.cast(x[:2], tf.int32),
        *(VECTOR, SQUARE),
    ),
    "copies": (lambda x: tf.identity_n([x, MATRIX[0]])[0], VECTOR),
    "a shape that is stated": (lambda x: tf.ensure_shape(x, [3]) * 2.0, VECTOR),
    "a slice": (lambda m: tf.slice(m, [1, 0], [-1, 2]), SQUARE),
    "indices and ranges": (lambda m: m[1:, -1], SQUARE),
    "steps back": (lambda c: c[::-1, ..., tf.newaxis, 1], CUBE),
    "the gradient of a slice": (
        lambda m: tf.gradients(m[1:, 0] ** 2.0, m)[0],
        SQUARE,
    ),
    "a new axis": (lambda x: x[tf.newaxis, :, tf.newaxis] * 2.0, VECTOR),
    "an index of the row": (lambda m, i: m[i], SQUARE, INDEX),
    "a negative index of the row": (lambda m, i: m[i - 3], SQUARE, INDEX),
    "an index of another axis": (lambda m, i: m[:, i], SQUARE, INDEX),
    "two indices of the row": (lambda m, i: m[i, i], SQUARE, INDEX),
    "an index and the rest": (
        lambda c, i: tf.ensure_shape(c[0, i, 1:], [3]),
        *(CUBE, INDEX),
    ),
    "an index, a new axis": (lambda c, i: c[..., tf.newaxis, i], CUBE, INDEX),
    "an index into a capture": (lambda i: MATRIX[i], INDEX),
    "an index into a capture's axis": (lambda i: MATRIX[:, i], INDEX),
    "indices into a capture": (lambda i: MATRIX[i - 3, i], INDEX),
    "a window of the row": (
        lambda m, i: tf.slice(m, tf.stack([i, 0]), [1, 2]),
        *(SQUARE, INDEX),
    ),
    "a window of all columns": (
        lambda m, i: tf.slice(m, tf.stack([i, 0]), [1, 3]),
        *(SQUARE, INDEX),
    ),
    "a window of a capture": (
        lambda i: tf.slice(MATRIX, tf.stack([i, 0]), [1, 2]),
        INDEX,
    ),
    "no rows of no columns": (lambda m: tf.reshape(m, [2, 0]), tf.TensorSpec([0, 2])),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_rows_are_as_alone(body):
    assert_rows_are_alike(define_body(*body))


def test_mirrored_edges():
    """TensorFlow's kernel takes no empty input."""
    body = lambda m: tf.pad(m, [[1, 0], [0, 2]], "REFLECT")  # noqa: E731
    assert_rows_are_alike(define_body(body, SQUARE), numbers_of_rows=(1, 3))


def test_an_index_into_a_table_of_unknown_size():
    table = tf.Variable(MATRIX, shape=[None, 3])
    body = lambda i: table.read_value()[i - 3] + tf.gather(table, i)  # noqa: E731
    assert_rows_are_alike(define_body(body, INDEX))


def test_an_index_into_a_capture_is_one_lookup():
    (graph,) = assert_rows_are_alike(define_body(lambda i: MATRIX[i], INDEX))
    assert types_of(graph) == ["Pack", "Less", "AddV2", "SelectV2", "GatherNd"]


def test_a_range_of_the_row_is_refused():
    body = lambda m, i: tf.ensure_shape(m[i : i + 2], [2, 3])  # noqa: E731
    with pytest.raises(CannotBatchError, match=r"may differ.* Use tf.slice"):
        vectorized(Compiled(define_body(body, SQUARE, INDEX)))


@pytest.mark.parametrize("body", [tf.tile, tf.reshape], ids=["tile", "reshape"])
def test_a_shape_of_the_row_is_refused(body):
    with pytest.raises(CannotBatchError, match=r"its shape.* may differ"):
        vectorized(Compiled(define_body(body, SQUARE, INDICES)))
