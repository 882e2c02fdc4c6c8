"""NaN, infinity, zeros with a sign, and rows of unusual shapes in block programs."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.5, 1e30, -1e30]
UNARY = [
    tf.abs,
    tf.cos,
    tf.exp,
    tf.math.expm1,
    tf.math.log,
    tf.math.log1p,
    tf.math.reciprocal,
    tf.math.rsqrt,
    tf.negative,
    tf.nn.relu,
    tf.sigmoid,
    tf.sin,
    tf.sqrt,
    tf.square,
    tf.tanh,
]
BINARY = [
    tf.add,
    tf.divide,
    tf.math.squared_difference,
    tf.maximum,
    tf.minimum,
    tf.multiply,
    tf.subtract,
]


def run(cell, blocks, *rows, with_gradient=False, upstream=None):
    """Returns the rows that a cell gives, and gradients if wanted."""
    with rtf.SubGraph("f", executor="batched", options=rtf.Options(blocks=blocks)) as f:
        inputs = [f.input(tf.TensorSpec(each.shape[1:], each.dtype)) for each in rows]
        f.output(cell(*inputs))
    explanation = rtf.explain(f)
    with tf.GradientTape() as tape:
        tape.watch(rows)
        value = f.map(*rows)
    gradients = []
    if with_gradient:
        gradients = tape.gradient(value, rows, output_gradients=upstream)
    if blocks == "compiled":
        assert explanation.not_compiled == {}
    return [value, *gradients]


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-30)


def pairs(dtype):
    """Returns two rows: each special number beside each."""
    grid = np.meshgrid(SPECIAL, SPECIAL)
    return [tf.constant(each.reshape(1, -1), dtype) for each in grid]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=["float", "double"])
@pytest.mark.parametrize("op", UNARY, ids=lambda op: op.__name__)
def test_special_numbers_pass_a_function_as_in_tensorflow(op, dtype):
    rows = tf.constant([SPECIAL], dtype)
    expected = run(op, "tensorflow", rows)
    assert_same(run(op, "compiled", rows), expected)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=["float", "double"])
@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.__name__)
def test_pairs_of_special_numbers_pass_an_op_as_in_tensorflow(op, dtype):
    rows = pairs(dtype)
    expected = run(op, "tensorflow", *rows)
    assert_same(run(op, "compiled", *rows), expected)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=["float", "double"])
@pytest.mark.parametrize("op", [tf.math.is_finite, tf.math.is_inf, tf.math.is_nan])
def test_special_numbers_are_told_apart(op, dtype):
    rows = tf.constant([SPECIAL], dtype)
    cell = lambda row: (op(row), tf.where(op(row), row, 7.0))  # noqa: E731
    found, expected = (run(cell, each, rows)[0] for each in ("compiled", "tensorflow"))
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1.0])
def test_a_logarithm_of_sums_of_exponentials(number):
    rows = tf.constant([[number, 0.5, -2.0], [3.0, number, number], [number] * 3])
    choices = {"with_gradient": True, "upstream": tf.constant([1.0, -2.0, 0.5])}
    expected = run(tf.reduce_logsumexp, "tensorflow", rows, **choices)
    assert_same(run(tf.reduce_logsumexp, "compiled", rows, **choices), expected)


@pytest.mark.parametrize(
    "op",
    [
        tf.math.reciprocal,
        tf.math.rsqrt,
        tf.nn.relu,
        tf.sigmoid,
        tf.sqrt,
        tf.tanh,
    ],
    ids=lambda op: op.__name__,
)
def test_special_gradients_pass_as_in_tensorflow(op):
    x, upstream = pairs(tf.float32)
    choices = {"with_gradient": True, "upstream": upstream}
    expected = run(op, "tensorflow", x, **choices)
    assert_same(run(op, "compiled", x, **choices), expected)


@pytest.mark.parametrize("reduce", [tf.reduce_sum, tf.reduce_max, tf.reduce_min])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_special_numbers_in_any_column_pass_a_reduction(reduce, number):
    rows = np.ones([21, 21], np.float32)
    np.fill_diagonal(rows, number)
    cell = lambda row: reduce(row, keepdims=True)  # noqa: E731
    expected = run(cell, "tensorflow", tf.constant(rows))
    assert_same(run(cell, "compiled", tf.constant(rows)), expected)


def test_a_constant_of_minus_zero_is_not_zero():
    cell = lambda x: 1.0 / (x * 0.0) - 1.0 / (x * -0.0)  # noqa: E731
    rows = tf.constant([[1.0, 2.0, -3.0]])
    expected = run(cell, "tensorflow", rows)
    np.testing.assert_array_equal(expected[0], [[np.inf, np.inf, -np.inf]])
    assert_same(run(cell, "compiled", rows), expected)


def test_a_block_may_give_what_it_takes_in_another_shape():
    rows = tf.reshape(tf.range(12.0), [2, 6])
    found = run(lambda x: tf.reshape(x, [2, 3]), "compiled", rows)
    np.testing.assert_array_equal(found[0], tf.reshape(rows, [2, 2, 3]))


def test_rows_without_columns_run_as_a_function():
    with rtf.SubGraph("f", executor="batched") as f:
        x = f.input(tf.TensorSpec([0]))
        f.output(tf.tanh(x + 1.0))
    explanation = rtf.explain(f)
    assert f.map(tf.zeros([4, 0])).shape == (4, 0)
    assert "no columns" in "".join(explanation.not_compiled.values())
