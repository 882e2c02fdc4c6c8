"""Products of matrices that each row has of its own."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.close import assert_all_close

ROWS = 7
FLIPS = list(itertools.product([False, True], repeat=2))


def run(body, rows, blocks):
    """Returns a body's values, its gradients, and whether both were compiled."""
    with rtf.SubGraph("f", executor="batched", options=rtf.Options(blocks=blocks)) as f:
        inputs = (f.input(tf.TensorSpec(x.shape[1:], x.dtype)) for x in rows)
        f.output(tf.sin(body(*inputs)))
    explanation = rtf.explain(f)
    with tf.GradientTape() as tape:
        tape.watch(rows)
        value = f.map(*rows)
    return [value, *tape.gradient(value, rows)], explanation.not_compiled


def draw(*shapes, dtype=tf.float32):
    return [
        tf.random.stateless_normal([ROWS, *shape], [i, 2], dtype=dtype)
        for i, shape in enumerate(shapes)
    ]


def compare(body, rows):
    """Checks that a body is compiled, and gives what TensorFlow does."""
    found, not_compiled = run(body, rows, "compiled")
    expected, _ = run(body, rows, "tensorflow")
    for one, other in zip(found, expected, strict=True):
        assert_all_close(one, other, rtol=1e-5, atol=1e-5)
    return not_compiled


def product(left, right, flip_left, flip_right):
    """Returns shapes of factors that stand as they are or transposed."""
    shapes = [left[::-1] if flip_left else left, right[::-1] if flip_right else right]
    return shapes, lambda a, b: tf.matmul(
        a, b, transpose_a=flip_left, transpose_b=flip_right
    )


@pytest.mark.parametrize("flips", FLIPS)
@pytest.mark.parametrize(
    "sizes", [(1, 5, 1), (6, 5, 1), (1, 5, 6), (6, 1, 5), (1, 1, 1)]
)
def test_vectors(sizes, flips):
    a, b, c = sizes
    shapes, body = product([a, b], [b, c], *flips)
    assert compare(body, draw(*shapes)) == {}


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("sizes", [(2, 3, 4), (5, 17, 33), (4, 64, 16)])
def test_matrices(sizes, dtype):
    a, b, c = sizes
    shapes, body = product([a, b], [b, c], flip_left=False, flip_right=False)
    assert compare(body, draw(*shapes, dtype=dtype)) == {}


@pytest.mark.parametrize("flips", FLIPS)
def test_what_takes_two_transposed_matrices_is_the_same(flips):
    """Those gradients, and one of these products, run as functions."""
    shapes, body = product([2, 3], [3, 4], *flips)
    not_compiled = compare(body, draw(*shapes))
    if not_compiled:
        (reason,) = not_compiled.values()
        assert "two transposed matrices" in reason


def test_attention_of_a_node_to_its_own_rows():
    """Scores of rows of the node, a softmax of them, and their mean."""

    def attend(keys, query):
        scores = tf.nn.softmax(tf.linalg.matvec(keys, query))
        return tf.linalg.matvec(keys, scores, transpose_a=True)

    assert compare(attend, draw([5, 8], [8])) == {}


def test_a_matrix_that_is_computed_of_a_row():
    weights = tf.constant(np.random.default_rng(0).normal(size=(6, 30)), tf.float32)

    def body(x):
        matrix = tf.reshape(tf.linalg.matvec(weights, x, transpose_a=True), [6, 5])
        return tf.linalg.matvec(matrix, x, transpose_a=True)

    assert compare(body, draw([6])) == {}


def test_nan_and_infinity_stay_in_their_row():
    a, b = draw([3, 4], [4])
    body = lambda x, y: tf.linalg.matvec(x, y)  # noqa: E731
    a = tf.tensor_scatter_nd_update(a, [[1, 0, 0], [2, 0, 0]], [np.nan, np.inf])
    found, _ = run(body, [a, b], "compiled")
    expected, _ = run(body, [a, b], "tensorflow")
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5, atol=1e-6)
