"""A block's gradient, for many rows at once, is the sum of that of its rows."""

import pytest
import tensorflow as tf

from recursive_tf.python.batching.differentiate import op_gradients
from tests.batching.rows import (
    CUBE,
    IMAGE,
    INDEX,
    INDICES,
    SCALAR,
    SQUARE,
    VECTOR,
    define_body,
)
from tests.batching.training import assert_gradients_are_alike
from tests.batching.tree import define_tree_lstm


def normal(*shape):
    return tf.random.stateless_normal(shape, [len(shape), shape[0]], stddev=0.7)


BIAS = tf.Variable(normal(3))
SCALE = tf.Variable(0.7)
MATRIX = tf.Variable(normal(3, 3))
TALL = tf.Variable(normal(6, 3))
TENSOR = tf.Variable(normal(3, 3, 3))
SLABS = tf.Variable(normal(2, 3, 3))
TABLE = tf.Variable(normal(8, 3))
FILTER = tf.Variable(normal(3, 3, 2, 4))
COMPLEX = tf.Variable(tf.complex(normal(3, 3), normal(3, 3)))
FLAG = tf.TensorSpec([], tf.bool)
COMPLEXES = tf.TensorSpec([3, 3], tf.complex64)
DOUBLES = tf.TensorSpec([3], tf.float64)
HALVES = tf.TensorSpec([3], tf.float16)
NOTHING = tf.TensorSpec([0])


def by(matrix, x):
    return tf.linalg.matvec(matrix, x, transpose_a=True)


def standardized(x):
    centered = x - tf.reduce_mean(x)
    return centered * tf.math.rsqrt(tf.math.reduce_variance(x) + 1e-3)


PRODUCTS = {
    "a vector by a matrix": (lambda x: tf.tanh(by(MATRIX, x) + BIAS), VECTOR),
    "a matrix by a vector": (lambda x: tf.tanh(tf.linalg.matvec(TALL, x)), VECTOR),
    "a dense layer": (
        lambda x: tf.nn.bias_add(tf.matmul(x[tf.newaxis], MATRIX), BIAS)[0],
        VECTOR,
    ),
    "a matrix on both sides": (lambda m: MATRIX @ m @ MATRIX, SQUARE),
    "the same matrix twice": (lambda x: by(MATRIX, tf.tanh(by(MATRIX, x))), VECTOR),
    "both of the row": (lambda x, m: tf.linalg.matvec(m, x), VECTOR, SQUARE),
    "a dot product": (lambda x, y: tf.tensordot(x, y, 1) * x, VECTOR, VECTOR),
    "an outer product": (
        lambda x, y: tf.tensordot(x[:, tf.newaxis] * y, MATRIX, 1),
        *(VECTOR, VECTOR),
    ),
    "a batch of matrices": (
        lambda x: tf.squeeze(x[tf.newaxis, tf.newaxis] @ SLABS @ x[:, tf.newaxis]),
        VECTOR,
    ),
    "einsum": (lambda m: tf.einsum("ij,jk->ki", m, MATRIX), SQUARE),
    "einsum, a letter stays": (lambda m: tf.einsum("ij,ij->i", m, MATRIX), SQUARE),
    "einsum of rows": (lambda x, m: tf.einsum("i,ij->j", x, m), VECTOR, SQUARE),
    "einsum of three": (lambda x: tf.einsum("i,ijk,j->k", x, TENSOR, x), VECTOR),
    "a convolution": (
        lambda x: tf.nn.relu(tf.nn.conv2d(x, FILTER, 1, "SAME")),
        IMAGE,
    ),
    "pooling": (lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME") * SCALE, IMAGE),
    "an inverse": (lambda m: tf.linalg.inv(m + 4.0 * tf.eye(3)), SQUARE),
    "a complex product": (
        lambda z: tf.matmul(z, COMPLEX, adjoint_b=True) * z,
        COMPLEXES,
    ),
    "an adjoint factor": (lambda z: tf.matmul(z, COMPLEX, adjoint_a=True), COMPLEXES),
}

SHAPES = {
    "concat with a shared vector": (
        lambda x: tf.concat([x, BIAS, tf.zeros_like(x), x * 2.0], 0),
        VECTOR,
    ),
    "concat of different sizes": (
        lambda m: tf.concat([m, m[:1] * m, TALL], 0),
        SQUARE,
    ),
    "a part of a split": (lambda m: tf.split(m * m, 3)[1], SQUARE),
    "two outputs of one op": (lambda m: tf.unstack(m * 2.0), SQUARE),
    "stack": (
        lambda x, y: tf.add_n(tf.unstack(tf.stack([x, y, BIAS]))),
        *(VECTOR, VECTOR),
    ),
    "slices": (lambda x: x[:2] * x[-2:] + x[1], VECTOR),
    "slices of several axes": (
        lambda c: c[0, ..., tf.newaxis, -2] + c[1:, 1:2, :, tf.newaxis][0, 0, :1, 0],
        CUBE,
    ),
    "slices with steps": (lambda m: m[::2, 1] + m[::-2, 0], SQUARE),
    "reshape and transpose": (
        lambda c: tf.reshape(tf.transpose(c, [2, 0, 1]), [4, -1]) * 2.0,
        CUBE,
    ),
    "tile": (lambda m: tf.tile(m, [2, 3]) ** 2, SQUARE),
    "broadcast": (lambda x: tf.broadcast_to(x, [2, 3]) * MATRIX[:2], VECTOR),
    "fill": (lambda s: tf.fill([3], s) * BIAS, SCALAR),
    "pad": (lambda x: tf.pad(x, [[1, 2]]) * 2.0, VECTOR),
    "reverse": (lambda x: tf.reverse(x, [0]) * x, VECTOR),
    "a diagonal": (lambda x: tf.linalg.diag(x) @ MATRIX, VECTOR),
    "size": (lambda x: x / tf.cast(tf.size(x), tf.float32), VECTOR),
    "nothing": (
        lambda x: tf.reduce_sum(tf.concat([x, x], 0)) * BIAS,
        NOTHING,
    ),
    "a product of nothing": (
        lambda m: tf.matmul(m, MATRIX),
        tf.TensorSpec([0, 3]),
    ),
    "a product over nothing": (
        lambda x: by(tf.ones([0, 3]) * SCALE, x) * BIAS,
        NOTHING,
    ),
}

LOOKUPS = {
    "a lookup": (lambda n: tf.tanh(tf.nn.embedding_lookup(TABLE, n)), INDEX),
    "a lookup of several": (lambda n: tf.reduce_sum(tf.gather(TABLE, n), 0), INDICES),
    "a lookup in what is computed": (lambda n: tf.gather(TABLE * 2.0, n), INDEX),
    "two lookups": (
        lambda n, m: tf.gather(TABLE, n) * tf.gather(TABLE, m),
        *(INDEX, INDEX),
    ),
    "a table that is multiplied by": (
        lambda n, x: tf.gather(TABLE, n) * tf.linalg.matvec(TABLE, x)[:3],
        *(INDEX, VECTOR),
    ),
    "a lookup before a product": (
        lambda n: tf.tanh(by(MATRIX, tf.tanh(tf.gather(TABLE, n)))),
        INDEX,
    ),
    "a lookup along an axis": (lambda n: tf.gather(MATRIX, n, axis=1), INDEX),
    "a lookup by pairs": (
        lambda n, m: tf.gather_nd(TABLE, [[n, m], [m, n]]) * 2.0,
        *(INDEX, INDEX),
    ),
    "a lookup in the row": (lambda x, n: tf.gather(x, n) * x, VECTOR, INDEX),
    "lookups in the row": (lambda c, n: tf.gather(c, n, axis=1), CUBE, INDICES),
    "an update of a table": (
        lambda n, x: tf.tensor_scatter_nd_update(TABLE, [[n]], [x]),
        *(INDEX, VECTOR),
    ),
    "a shared lookup in the row": (lambda m: tf.gather(m, [2, 0, 2]), SQUARE),
    "the largest": (lambda x: tf.nn.top_k(x, 2)[0], VECTOR),
    "sort": (lambda x: tf.sort(x) * BIAS, VECTOR),
}

ELEMENTS = {
    "a captured scalar": (lambda x: x * SCALE + SCALE, VECTOR),
    "a scalar by a captured vector": (lambda s: tf.tanh(s * BIAS), SCALAR),
    "a captured vector to a matrix": (
        lambda m: m * BIAS + BIAS[:, tf.newaxis],
        SQUARE,
    ),
    "where": (lambda flag, x: tf.where(flag, x, BIAS), FLAG, VECTOR),
    "where of scalars": (lambda s: tf.where(s > 0.0, BIAS, 0.0), SCALAR),
    "a maximum": (
        lambda x, y: tf.maximum(x, y) + tf.minimum(x, BIAS),
        *(VECTOR, VECTOR),
    ),
    "a power": (lambda x: tf.pow(tf.exp(x), SCALE), VECTOR),
    "activations": (
        lambda x: (
            tf.nn.leaky_relu(x) + tf.nn.elu(x) + tf.nn.softplus(x) + tf.nn.gelu(x)
        ),
        VECTOR,
    ),
    "clipping": (lambda x: tf.clip_by_value(x, -1.0, 1.0), VECTOR),
    "softmax": (lambda m: tf.nn.softmax(m), SQUARE),
    "softmax along the first": (lambda m: tf.nn.softmax(m, 0), SQUARE),
    "attention": (
        lambda x: by(TALL, tf.nn.softmax(tf.linalg.matvec(TALL, x))),
        VECTOR,
    ),
    "cross entropy": (
        lambda x, n: tf.nn.sparse_softmax_cross_entropy_with_logits(n, x),
        *(VECTOR, INDEX),
    ),
    "a mean": (lambda x: tf.reduce_mean(x) * x, VECTOR),
    "a norm": (lambda x: x / tf.norm(x), VECTOR),
    "a maximum of a row": (lambda m: tf.reduce_max(m, 0), SQUARE),
    "a product of a row": (lambda m: tf.reduce_prod(m, 0), SQUARE),
    "the sum of exponentials": (lambda x: tf.reduce_logsumexp(x), VECTOR),
    "layer normalization": (lambda x: standardized(x) * BIAS + BIAS, VECTOR),
    "cumulative sums": (lambda x: tf.cumsum(x * x), VECTOR),
    "a stopped gradient": (lambda x: (tf.stop_gradient(x) * x, tf.tanh(x)), VECTOR),
    "an output that is an input": (lambda x: (x, tf.reshape(x, [3]), x * 1.0), VECTOR),
    "two types": (
        lambda x, n: tf.cast(x, tf.float64) * tf.cast(n, tf.float64),
        *(VECTOR, INDEX),
    ),
    "doubles": (lambda x: x * tf.tanh(x), DOUBLES),
    "halves": (lambda x: x * tf.tanh(x), HALVES),
    "absolute values": (lambda z: tf.abs(z), COMPLEXES),
    "nothing of its input": (lambda n: tf.cast(n, tf.float32) * BIAS, INDEX),
}


def check(body):
    assert_gradients_are_alike(define_body(*body))


@pytest.mark.parametrize("body", PRODUCTS.values(), ids=PRODUCTS)
def test_gradients_of_products(body):
    check(body)


@pytest.mark.parametrize("body", SHAPES.values(), ids=SHAPES)
def test_gradients_of_shapes(body):
    check(body)


@pytest.mark.parametrize("body", LOOKUPS.values(), ids=LOOKUPS)
def test_gradients_of_lookups(body):
    check(body)


@pytest.mark.parametrize("body", ELEMENTS.values(), ids=ELEMENTS)
def test_gradients_of_elements(body):
    check(body)


def test_gradients_of_a_tree_lstm():
    training = assert_gradients_are_alike(define_tree_lstm())
    look, internal, leaf = training.blocks
    assert look.backward is None
    assert look.deferred is None
    assert internal.backward is not None
    assert leaf.input_gradients == ()


def test_the_comparison_notices_a_wrong_gradient(monkeypatch):
    wrong = {"Tanh": lambda op, gradient: [gradient * 1.01]}
    monkeypatch.setattr(op_gradients, "_OWN", wrong)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check((tf.tanh, VECTOR))
