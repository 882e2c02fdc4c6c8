"""Ops along axes, of matrices, of images and of examples."""

import pytest
import tensorflow as tf

from tests.batching.interpreter import types_of
from tests.batching.rows import (
    CUBE,
    FLAGS,
    IMAGE,
    INDEX,
    SCALAR,
    SQUARE,
    VECTOR,
    assert_rows_are_alike,
    define_body,
)

MATRIX = tf.random.stateless_normal([3, 3], [7, 7])
FILTERS = tf.random.stateless_normal([3, 3, 2, 4], [8, 8])
NUMBERS = tf.TensorSpec([3], tf.int32)
VOLUME = tf.TensorSpec([1, 3, 3, 3, 2])

REDUCTIONS = {
    "sum": tf.reduce_sum,
    "mean": tf.reduce_mean,
    "max": tf.reduce_max,
    "min": tf.reduce_min,
    "prod": tf.reduce_prod,
    "logsumexp": tf.reduce_logsumexp,
    "std": tf.math.reduce_std,
    "norm": tf.math.reduce_euclidean_norm,
}


@pytest.mark.parametrize("reduce", REDUCTIONS.values(), ids=REDUCTIONS)
@pytest.mark.parametrize("spec", [SCALAR, VECTOR, CUBE], ids=str)
def test_reductions(reduce, spec):
    assert_rows_are_alike(define_body(reduce, spec))
    if spec is CUBE:
        body = lambda c: (reduce(c, [0, -1], keepdims=True), reduce(c, 1))  # noqa: E731
        assert_rows_are_alike(define_body(body, spec))


def positive(matrix):
    return tf.matmul(matrix, matrix, transpose_b=True) + 3.0 * tf.eye(3)


def batch_norm(images, mean, variance, is_training=False):
    return tf.raw_ops.FusedBatchNormV3(
        x=images,
        scale=[1.0, 2.0],
        offset=[0.0, 1.0],
        mean=tf.constant(mean, tf.float32),
        variance=tf.constant(variance, tf.float32),
        is_training=is_training,
    ).y


def column(vector):
    return vector[:, tf.newaxis]


BODIES = {
    "all": (tf.reduce_all, FLAGS),
    "any": (lambda f: tf.reduce_any(f, 0, keepdims=True), FLAGS),
    "no axis": (lambda m: tf.reduce_sum(m, []), SQUARE),
    "nothing to sum": (lambda m: tf.reduce_sum(m, 0), tf.TensorSpec([0, 2])),
    "argmax": (lambda m: tf.argmax(m), SQUARE),
    "argmin": (lambda m: tf.argmin(m, -1, tf.int32), SQUARE),
    "cumsum": (lambda m: tf.cumsum(m, -1, exclusive=True, reverse=True), SQUARE),
    "cumprod": (tf.math.cumprod, VECTOR),
    "cumulative logsumexp": (tf.math.cumulative_logsumexp, VECTOR),
    "softmax of a vector": (tf.nn.softmax, VECTOR),
    "softmax along an axis": (lambda c: tf.nn.softmax(c, 1), CUBE),
    "log softmax": (tf.nn.log_softmax, VECTOR),
    "top k": (lambda x: tf.nn.top_k(x, 2), VECTOR),
    "sort": (lambda m: tf.sort(m, 0), SQUARE),
    "argsort": (lambda m: tf.argsort(m, direction="DESCENDING"), SQUARE),
    "cross": (lambda x: tf.linalg.cross(x, MATRIX[0]), VECTOR),
    "moments": (lambda m: tf.nn.moments(m, [0]), SQUARE),
    "normalized": (tf.nn.l2_normalize, VECTOR),
    "clipped by norm": (lambda x: tf.clip_by_norm(x, 1.0), VECTOR),
    "half a sum of squares": (tf.nn.l2_loss, SQUARE),
    "cross entropy": (
        lambda x, n: tf.nn.sparse_softmax_cross_entropy_with_logits(n, x),
        *(VECTOR, INDEX),
    ),
    "cross entropy of a capture": (
        lambda n: tf.nn.sparse_softmax_cross_entropy_with_logits(n, MATRIX[0]),
        INDEX,
    ),
    "dense cross entropy": (
        lambda x: tf.nn.softmax_cross_entropy_with_logits([0.0, 1.0, 0.0], x),
        VECTOR,
    ),
    "dense cross entropy that broadcasts": (
        lambda m: (
            tf.raw_ops.SoftmaxCrossEntropyWithLogits(
                features=m, labels=[[0.0, 1.0, 0.0]]
            ).loss
        ),
        SQUARE,
    ),
    "sigmoid cross entropy": (
        lambda x, y: tf.nn.sigmoid_cross_entropy_with_logits(y, x),
        *(VECTOR, VECTOR),
    ),
    "among the best": (lambda m, n: tf.math.in_top_k(n, m, 2), SQUARE, NUMBERS),
    "bias": (lambda m: tf.nn.bias_add(m, MATRIX[0]), SQUARE),
    "bias of the row": (tf.nn.bias_add, SQUARE, VECTOR),
    "bias of a capture": (lambda x: tf.nn.bias_add(MATRIX, x), VECTOR),
    "bias of channels in front": (
        lambda c, x: tf.nn.bias_add(c, x, "NC..."),
        *(CUBE, VECTOR),
    ),
    "searching": (lambda x: tf.searchsorted([0.0, 1.0], x), VECTOR),
    "searching in the row": (
        lambda x, y: tf.searchsorted(tf.sort(x), y),
        VECTOR,
        VECTOR,
    ),
    "reversed sequences": (
        lambda m, n: tf.reverse_sequence(m, n, seq_axis=1, batch_axis=0),
        *(SQUARE, NUMBERS),
    ),
    "cholesky": (lambda m: tf.linalg.cholesky(positive(m)), SQUARE),
    "inverse": (lambda m: tf.linalg.inv(positive(m)), SQUARE),
    "determinant": (lambda m: tf.linalg.det(positive(m)), SQUARE),
    "log determinant": (lambda m: tf.linalg.slogdet(positive(m)), SQUARE),
    "solve": (lambda m, x: tf.linalg.solve(positive(m), column(x)), SQUARE, VECTOR),
    "solve with a capture": (
        lambda x: tf.linalg.solve(positive(MATRIX), column(x)),
        VECTOR,
    ),
    "triangular solve": (
        lambda x: tf.linalg.triangular_solve(positive(MATRIX), column(x)),
        VECTOR,
    ),
    "least squares": (
        lambda m, x: tf.linalg.lstsq(positive(m), column(x)),
        *(SQUARE, VECTOR),
    ),
    "eigenvalues": (lambda m: tf.linalg.eigvalsh(positive(m)), SQUARE),
    "singular values": (lambda m: tf.linalg.svd(m, compute_uv=False), SQUARE),
    "qr": (lambda m: tf.abs(tf.linalg.qr(m)[1]), SQUARE),
    "diagonal": (tf.linalg.diag, VECTOR),
    "upper diagonal": (lambda x: tf.linalg.diag(x, k=1, padding_value=2.0), VECTOR),
    "diagonal part": (tf.linalg.diag_part, SQUARE),
    "set a diagonal": (lambda m: tf.linalg.set_diag(m, MATRIX[0]), SQUARE),
    "diagonal of a tensor": (tf.linalg.tensor_diag, tf.TensorSpec([2, 2])),
    "diagonal part of a tensor": (
        tf.linalg.tensor_diag_part,
        tf.TensorSpec([2, 2, 2, 2]),
    ),
    "band": (lambda m: tf.linalg.band_part(m, 0, -1), SQUARE),
    "trace": (tf.linalg.trace, SQUARE),
    "fourier": (lambda x: tf.signal.irfft(tf.signal.rfft(x)), tf.TensorSpec([4])),
    "complex fourier": (tf.signal.fft, tf.TensorSpec([4], tf.complex64)),
    "pooling": (lambda i: tf.nn.max_pool2d(i, 2, 2, "VALID"), IMAGE),
    "average pooling": (lambda i: tf.nn.avg_pool2d(i, 2, 2, "SAME"), IMAGE),
    "depth of space": (lambda i: tf.nn.space_to_depth(i, 2), IMAGE),
    "patches": (
        lambda i: tf.image.extract_patches(
            i, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"
        ),
        IMAGE,
    ),
    "batches of space": (lambda i: tf.space_to_batch(i, [2, 2], [[0, 0]] * 2), IMAGE),
    "space of batches": (
        lambda i: tf.batch_to_space(i, [2, 1], [[0, 0]] * 2),
        IMAGE,
    ),
    "resized": (lambda i: tf.image.resize(i, [4, 4]), IMAGE),
    "fixed batch statistics": (
        lambda i: batch_norm(i, mean=[0.5, 0.0], variance=[1.0, 2.0]),
        IMAGE,
    ),
    "batch statistics of a row": (
        lambda i: batch_norm(i, mean=[], variance=[], is_training=True),
        IMAGE,
    ),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_rows_are_as_alone(body):
    assert_rows_are_alike(define_body(*body), numbers_of_rows=(1, 3))


OPS = {
    "MatrixSquareRoot": (lambda op, m: op(input=positive(m)), SQUARE),
    "MatrixLogarithm": (
        lambda op, m: op(input=tf.cast(positive(m), tf.complex64)),
        SQUARE,
    ),
    "MatrixSolveLs": (
        lambda op, m: op(matrix=positive(m), rhs=m, l2_regularizer=0.0, fast=False),
        SQUARE,
    ),
    "TridiagonalSolve": (
        lambda op, m: op(diagonals=tf.add(m, [[0.0], [9.0], [0.0]]), rhs=m),
        SQUARE,
    ),
    "Eig": (
        lambda op, m: tf.abs(
            op(input=positive(m), Tout=tf.complex64, compute_v=False)[0]
        ),
        SQUARE,
    ),
    "Lu": (lambda op, m: op(input=positive(m)), SQUARE),
    "MatrixDiag": (lambda op, m: op(diagonal=m), SQUARE),
    "MatrixDiagPart": (lambda op, m: op(input=m), SQUARE),
    "MatrixSetDiag": (lambda op, m: op(input=m, diagonal=MATRIX[0]), SQUARE),
    "NthElement": (lambda op, m: op(input=m, n=1), SQUARE),
    "RGBToHSV": (lambda op, m: op(images=tf.sigmoid(m)), SQUARE),
    "HSVToRGB": (lambda op, m: op(images=tf.sigmoid(m)), SQUARE),
    "UpperBound": (
        lambda op, m: op(sorted_inputs=tf.sort(m), values=m),
        SQUARE,
    ),
    "InTopK": (
        lambda op, m: op(predictions=m, targets=tf.argmax(m, 1, tf.int32), k=2),
        SQUARE,
    ),
    "LRN": (lambda op, i: op(input=i), IMAGE),
    "DepthToSpace": (
        lambda op, i: op(input=i, block_size=2),
        tf.TensorSpec([1, 2, 2, 4]),
    ),
    "Dilation2D": (
        lambda op, i: op(
            input=i,
            filter=FILTERS[..., 0],
            strides=[1] * 4,
            rates=[1] * 4,
            padding="SAME",
        ),
        IMAGE,
    ),
    "MaxPoolV2": (
        lambda op, i: op(
            input=i, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"
        ),
        IMAGE,
    ),
    **dict.fromkeys(
        ("AvgPool3D", "MaxPool3D"),
        (
            lambda op, v: op(
                input=v, ksize=[1, 2, 2, 2, 1], strides=[1] * 5, padding="SAME"
            ),
            VOLUME,
        ),
    ),
    **dict.fromkeys(
        ("ResizeArea", "ResizeBicubic", "ResizeNearestNeighbor"),
        (lambda op, i: op(images=i, size=[4, 4]), IMAGE),
    ),
    **dict.fromkeys(
        ("FFT2D", "IFFT2D"),
        (lambda op, z: op(input=z), tf.TensorSpec([2, 2], tf.complex64)),
    ),
}


@pytest.mark.parametrize("op_type", OPS)
def test_ops_that_have_no_short_name(op_type):
    body, spec = OPS[op_type]
    of_row = lambda x: body(getattr(tf.raw_ops, op_type), x)  # noqa: E731
    assert_rows_are_alike(define_body(of_row, spec), numbers_of_rows=(1, 3))


CONVOLUTIONS = {
    "2d": (lambda i: tf.nn.conv2d(i, FILTERS, 1, "SAME"), IMAGE),
    "dilated": (lambda i: tf.nn.conv2d(i, FILTERS, 1, "SAME", dilations=2), IMAGE),
    "1d": (
        lambda x: tf.nn.conv1d(x, FILTERS[0], 1, "SAME"),
        tf.TensorSpec([1, 5, 2]),
    ),
    "3d": (lambda x: tf.nn.conv3d(x, FILTERS[tf.newaxis], [1] * 5, "SAME"), VOLUME),
    "of each channel": (
        lambda i: tf.nn.depthwise_conv2d(i, FILTERS, [1] * 4, "SAME"),
        IMAGE,
    ),
    "transposed": (
        lambda i: tf.nn.conv2d_transpose(
            i, tf.transpose(FILTERS, [0, 1, 3, 2]), [2, 12, 12, 4], 2
        ),
        IMAGE,
    ),
}


@pytest.mark.parametrize("body", CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_a_convolution_is_one_of_the_images_of_all_rows(body):
    (graph,) = assert_rows_are_alike(define_body(*body), numbers_of_rows=(1, 3))
    assert sum("Conv" in op_type for op_type in types_of(graph)) == 1


def test_fixed_batch_statistics_are_a_product_and_a_sum():
    (graph,) = assert_rows_are_alike(define_body(*BODIES["fixed batch statistics"]))
    assert types_of(graph) == ["Mul", "AddV2"]


@pytest.mark.parametrize("reduce", [tf.reduce_sum, tf.nn.softmax, tf.argmax])
def test_no_rows(reduce):
    assert_rows_are_alike(define_body(reduce, VECTOR), numbers_of_rows=(0,))
