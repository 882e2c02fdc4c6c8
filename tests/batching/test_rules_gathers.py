"""Lookups, and what puts values where indices say."""

import pytest
import tensorflow as tf

from tests.batching.interpreter import types_of
from tests.batching.rows import (
    INDEX,
    INDICES,
    SQUARE,
    TEXT,
    TEXTS,
    VECTOR,
    assert_rows_are_alike,
    define_body,
)

TABLE = tf.random.stateless_normal([6, 3], [8, 8])
BLOCKS = tf.random.stateless_normal([3, 3, 3], [9, 9])
VARIABLE = tf.Variable(TABLE)
CUBE = tf.TensorSpec([3, 3, 4])
NUMBERS = tf.TensorSpec([3], tf.int32)
PAIR = tf.TensorSpec([2])
PAIRS = tf.TensorSpec([3, 2], tf.int32)

BODIES = {
    "of a table": (lambda n: tf.gather(TABLE, n) * 1.0, INDEX),
    "of a table, many": (lambda n: tf.gather(TABLE, n), PAIRS),
    "along an axis of a table": (lambda n: tf.gather(TABLE, n, axis=1), INDEX),
    "many along an axis of a table": (lambda n: tf.gather(BLOCKS, n, axis=-1), PAIRS),
    "of a batch of tables": (
        lambda n: tf.gather(BLOCKS, n, axis=1, batch_dims=1),
        PAIRS,
    ),
    "of a batch, along another axis": (
        lambda n: tf.gather(BLOCKS, n, axis=2, batch_dims=-1),
        PAIRS,
    ),
    "of the row": (lambda x, n: tf.gather(x, n), VECTOR, INDEX),
    "along an axis of the row": (lambda c, n: tf.gather(c, n, axis=1), CUBE, INDICES),
    "of a batch in the row": (
        lambda c, n: tf.gather(c, n, axis=1, batch_dims=1),
        *(CUBE, PAIRS),
    ),
    "by a captured index": (lambda m: tf.gather(m, [2, 0], axis=-1), SQUARE),
    "by a captured batch of indices": (
        lambda c: tf.gather(c, [[0, 1], [2, 2], [1, 1]], axis=2, batch_dims=1),
        CUBE,
    ),
    "of a table by int64": (
        lambda n: tf.gather(TABLE, n),
        tf.TensorSpec([], tf.int64),
    ),
    "of texts": (lambda n: tf.gather(["a", "b", "c"], n), INDICES),
    "n-d of a table": (lambda n: tf.gather_nd(TABLE, n), INDICES),
    "n-d of the row": (tf.gather_nd, SQUARE, INDICES),
    "n-d of the row, one dimension": (
        tf.gather_nd,
        CUBE,
        tf.TensorSpec([2, 1], tf.int32),
    ),
    "n-d of the row, many": (tf.gather_nd, CUBE, PAIRS),
    "n-d by a captured index": (lambda m: tf.gather_nd(m, [[0, 1], [2, 2]]), SQUARE),
    "n-d of a batch": (
        lambda m, n: tf.gather_nd(m, n[:, tf.newaxis], batch_dims=1),
        *(SQUARE, NUMBERS),
    ),
    "of a variable": (lambda n: tf.gather(VARIABLE, n), INDICES),
    "of the value of a variable": (
        lambda n: tf.gather(VARIABLE.read_value(), n),
        INDEX,
    ),
    "along an axis of a variable": (lambda n: tf.gather(VARIABLE, n, axis=1), INDICES),
    "n-d of a variable": (VARIABLE.gather_nd, INDICES),
    "n-d of a variable, many": (VARIABLE.gather_nd, PAIRS),
    "an embedding": (lambda n: tf.nn.embedding_lookup(VARIABLE, n), INDICES),
    "the shape of a variable": (
        lambda x: (
            x * tf.cast(tf.raw_ops.VariableShape(input=VARIABLE.handle)[1], x.dtype)
        ),
        VECTOR,
    ),
    "scatter": (lambda n, x: tf.scatter_nd(n[:, tf.newaxis], x, [5]), INDICES, PAIR),
    "scatter to captured places": (
        lambda x: tf.scatter_nd([[1], [1]], x, [5]),
        PAIR,
    ),
    "scatter captured values": (
        lambda n: tf.scatter_nd(n[:, tf.newaxis], tf.constant([1.0, 2.0]), [5]),
        INDICES,
    ),
    "update": (
        lambda m, n, x: tf.tensor_scatter_nd_update(m, [[n]], [x]),
        *(SQUARE, INDEX, VECTOR),
    ),
    "update a capture": (
        lambda n, x: tf.tensor_scatter_nd_update(TABLE, [[n]], [x]),
        *(INDEX, VECTOR),
    ),
    "add": (
        lambda x, n, y: tf.tensor_scatter_nd_add(x, n[:, tf.newaxis], y),
        *(VECTOR, INDICES, PAIR),
    ),
    "maximum": (
        lambda x, n, y: tf.tensor_scatter_nd_max(x, n[:, tf.newaxis], y),
        *(VECTOR, INDICES, PAIR),
    ),
    "segments": (lambda x, n: tf.math.unsorted_segment_sum(x, n, 4), VECTOR, NUMBERS),
    "segments, some left out": (
        lambda x, n: tf.math.unsorted_segment_max(x, n - 1, 4),
        *(VECTOR, NUMBERS),
    ),
    "captured segments": (
        lambda m: tf.math.unsorted_segment_sum(m, [0, 1, 0], 2),
        SQUARE,
    ),
    "the gradient of a lookup": (
        lambda m, n: tf.convert_to_tensor(tf.gradients(tf.gather(m, n), m)[0]),
        *(SQUARE, INDEX),
    ),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_rows_are_as_alone(body):
    assert_rows_are_alike(define_body(*body))


# The batch dimensions of a lookup, its axis, and the shape of its indices.
BATCHES = [
    (batch_dims, axis, [3, 3, 3][:rank])
    for rank in range(3)
    for batch_dims in range(-rank, rank + 1)
    for axis in range(batch_dims % max(rank, 1) if batch_dims < 0 else batch_dims, 3)
]


@pytest.mark.parametrize(("batch_dims", "axis", "shape"), BATCHES)
@pytest.mark.parametrize("source", ["the row", "a table"])
@pytest.mark.parametrize("indices", ["of the row", "shared"])
def test_lookups_of_batches(source, indices, batch_dims, axis, shape):
    shared = tf.random.stateless_uniform(shape, [5, 5], 0, 3, tf.int32)
    whole = tf.TensorSpec([3, 3, 3])

    def body(cube, own):
        values = cube if source == "the row" else BLOCKS
        where = own if indices == "of the row" else shared
        return (
            tf.gather(values, where, axis=axis, batch_dims=batch_dims) + cube[0, 0, 0]
        )

    f = define_body(body, whole, tf.TensorSpec(shape, tf.int32))
    assert_rows_are_alike(f, [2])


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("places", [[], [2], [2, 2]], ids=str)
def test_n_d_lookups_of_any_depth(depth, places):
    whole, where = tf.TensorSpec([3, 3, 4]), tf.TensorSpec([*places, depth], tf.int32)
    assert_rows_are_alike(define_body(tf.gather_nd, whole, where), [2])


@pytest.mark.parametrize("batch_dims", [1, 2])
def test_n_d_lookups_of_batches(batch_dims):
    whole, where = tf.TensorSpec([3, 3, 4]), tf.TensorSpec([3, 3, 1], tf.int32)

    def body(cube, where):
        return tf.gather_nd(cube, where[..., : 3 - batch_dims], batch_dims)

    assert_rows_are_alike(define_body(body, whole, where), [2])


@pytest.mark.parametrize("spec", [TEXT, TEXTS], ids=["one key", "many keys"])
def test_a_lookup_in_a_hash_table(spec):
    values = tf.lookup.KeyValueTensorInitializer(["d", "eF"], tf.constant([1, 2]))
    table = tf.lookup.StaticHashTable(values, -1)
    (graph,) = assert_rows_are_alike(define_body(table.lookup, spec))
    assert types_of(graph) == ["LookupTableFindV2"]


def test_a_lookup_whose_shape_is_stated():
    table = tf.lookup.experimental.MutableHashTable(tf.int32, tf.float32, [0.0, 1.0])
    table.insert([1, 2], [[1.0, 2.0], [3.0, 4.0]])
    lookup = lambda n: tf.ensure_shape(table.lookup(n), [2]) * 2.0  # noqa: E731
    assert_rows_are_alike(define_body(lookup, INDEX))


def test_an_index_along_an_axis_of_a_table_moves_that_axis_once():
    (graph,) = assert_rows_are_alike(
        define_body(lambda n: tf.gather(TABLE, n, axis=1), INDEX)
    )
    assert types_of(graph) == ["GatherV2"]


def test_a_lookup_of_each_row_in_its_own_is_one_op():
    (graph,) = assert_rows_are_alike(define_body(tf.gather, VECTOR, INDEX))
    assert types_of(graph) == ["GatherV2"]
