"""Matrix products, of rows with what they share and with each other."""

import pytest
import tensorflow as tf

from tests.batching.interpreter import types_of
from tests.batching.rows import SQUARE, VECTOR, assert_rows_are_alike, define_body

MATRIX = tf.random.stateless_normal([3, 4], [7, 7])
CUBE = tf.random.stateless_normal([3, 3, 3], [9, 9])
SPARSE = tf.sparse.from_dense([[0.0, 2, 0], [1, 0, 3], [0, 0, 0], [0.5, 0, 0]])
COMPLEX_SPARSE = tf.sparse.from_dense(
    tf.complex([[0.0, 2], [1, 3]], [[0.0, 1], [2, 0]])
)
COMPLEX = tf.complex(MATRIX[:, :3], MATRIX[:, 1:])
COMPLEXES = tf.TensorSpec([3, 3], tf.complex64)

BODIES = {
    "a vector by a matrix": (
        lambda x: tf.linalg.matvec(MATRIX, x, transpose_a=True),
        VECTOR,
    ),
    "a matrix by a vector": (
        lambda x: tf.linalg.matvec(tf.transpose(MATRIX), x),
        VECTOR,
    ),
    "a row by a matrix": (lambda x: tf.matmul(x[tf.newaxis], MATRIX)[0], VECTOR),
    "a matrix by a matrix": (lambda m: tf.matmul(m, MATRIX), SQUARE),
    "a transposed matrix": (lambda m: tf.matmul(m, MATRIX, transpose_a=True), SQUARE),
    "a captured matrix by a matrix": (
        lambda m: tf.matmul(MATRIX, m, transpose_a=True),
        SQUARE,
    ),
    "a captured sparse matrix by a matrix": (
        lambda m: tf.sparse.sparse_dense_matmul(SPARSE, m),
        SQUARE,
    ),
    "a captured sparse matrix by a vector": (
        lambda x: tf.sparse.sparse_dense_matmul(SPARSE, x[:, tf.newaxis])[:, 0],
        VECTOR,
    ),
    "the adjoint of a captured sparse matrix": (
        lambda m: tf.sparse.sparse_dense_matmul(
            COMPLEX_SPARSE, m, adjoint_a=True, adjoint_b=True
        ),
        tf.TensorSpec([3, 2], tf.complex64),
    ),
    "a matrix by a captured sparse matrix": (
        lambda m: tf.sparse.sparse_dense_matmul(m, SPARSE, adjoint_b=True),
        SQUARE,
    ),
    "both of the row": (lambda x, m: tf.linalg.matvec(m, x), VECTOR, SQUARE),
    "a batch by a matrix": (lambda m: tf.matmul(tf.stack([m, m]), MATRIX), SQUARE),
    "a batch by a captured batch": (lambda m: tf.matmul(m, CUBE), SQUARE),
    "a captured matrix by a batch of columns": (
        lambda m: tf.matmul(tf.transpose(MATRIX), m[:, :, tf.newaxis]),
        SQUARE,
    ),
    "an outer product": (lambda x: x[:, tf.newaxis] * x[tf.newaxis], VECTOR),
    "tensordot": (lambda x, m: tf.tensordot(x, m, 1), VECTOR, SQUARE),
    "integers": (lambda n: tf.matmul(n, n), tf.TensorSpec([3, 3], tf.int32)),
    "small integers": (
        lambda n: tf.matmul(n, n, output_type=tf.int32),
        tf.TensorSpec([3, 3], tf.int8),
    ),
    "of no length": (lambda m: tf.matmul(m, tf.ones([0, 3])), tf.TensorSpec([2, 0])),
    "of no height": (lambda m: tf.matmul(m, MATRIX), tf.TensorSpec([0, 3])),
    "einsum": (lambda x: tf.einsum("i,ij->j", x, MATRIX), VECTOR),
    "einsum, the matrix first": (lambda x: tf.einsum("ij,i->j", MATRIX, x), VECTOR),
    "einsum, two letters": (lambda m: tf.einsum("ij,ijk->k", m, CUBE), SQUARE),
    "einsum, in another order": (lambda m: tf.einsum("ki,ijl->lkj", m, CUBE), SQUARE),
    "einsum, a letter stays": (lambda m: tf.einsum("ij,ij->i", m, CUBE[0]), SQUARE),
    "einsum of rows": (lambda x, m: tf.einsum("i,ij->j", x, m), VECTOR, SQUARE),
    "einsum, a letter twice": (lambda m: tf.einsum("ii,ij->j", m, MATRIX), SQUARE),
    "einsum of three": (lambda x: tf.einsum("i,ijk,j->k", x, CUBE, x), VECTOR),
    "einsum of one": (lambda m: tf.einsum("ij->ji", m), SQUARE),
    "einsum with dots": (lambda m: tf.einsum("...i,ij->...j", m, MATRIX), SQUARE),
    "einsum with dots on both sides": (
        lambda x, m: tf.einsum("...i,...i->...", x, m),
        *(VECTOR, SQUARE),
    ),
    "einsum with dots that broadcast": (
        lambda m: tf.einsum("...ij,...jk->...ik", m[tf.newaxis], CUBE),
        SQUARE,
    ),
    "a complex product": (lambda z: tf.matmul(z, COMPLEX, adjoint_b=True), COMPLEXES),
    "a transposed complex product": (
        lambda z: tf.matmul(z, z, transpose_a=True),
        COMPLEXES,
    ),
    "a complex vector": (
        lambda z: tf.linalg.matvec(COMPLEX, z[0], adjoint_a=True),
        COMPLEXES,
    ),
    "a batch of adjoint products": (
        lambda z: tf.matmul(tf.stack([z, z]), COMPLEX, adjoint_a=True),
        COMPLEXES,
    ),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_rows_are_as_alone(body):
    assert_rows_are_alike(define_body(*body))


@pytest.mark.parametrize(
    ("equation", "shared"),
    [("ij,ijk->k", CUBE), ("...i,ij->...j", MATRIX)],
    ids=["letters", "dots"],
)
def test_an_einsum_with_a_shared_tensor_is_one_product(equation, shared):
    (graph,) = assert_rows_are_alike(
        define_body(lambda m: tf.einsum(equation, m, shared), SQUARE)
    )
    assert types_of(graph) in (
        ["Reshape", "MatMul"],
        ["Reshape", "MatMul", "Reshape"],
    )
