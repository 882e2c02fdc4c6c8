"""Whatever is computed column by column: as plain TensorFlow computes it."""

import hypothesis
import numpy as np
import tensorflow as tf
from hypothesis import strategies as st

import recursive_tf as rtf


def after_zero(x):
    """Returns a zero, and all columns but the last."""
    around = [[0, 0]] * (len(x.shape) - 1) + [[1, 0]]
    return tf.pad(x[..., :-1], around)


def turned(x):
    """Returns the first column behind the others."""
    return tf.concat([x[..., 1:], x[..., :1]], -1)


# None of them leaves what a float holds well, however they are nested.
UNARY = {
    "tanh": tf.tanh,
    "sigmoid": tf.sigmoid,
    "sin": tf.sin,
    "cos": tf.cos,
    "negative": tf.negative,
    "relu": tf.nn.relu,
    "exp of tanh": lambda x: tf.exp(tf.tanh(x)),
    "expm1 of tanh": lambda x: tf.math.expm1(tf.tanh(x)),
    "log": lambda x: tf.math.log(1.5 + tf.sin(x)),
    "log1p": lambda x: tf.math.log1p(tf.square(tf.sin(x))),
    "sqrt": lambda x: tf.sqrt(1.5 + tf.sin(x)),
    "rsqrt": lambda x: tf.math.rsqrt(1.5 + tf.sin(x)),
    "reciprocal": lambda x: tf.math.reciprocal(1.5 + tf.sin(x)),
    "mean": lambda x: x - tf.reduce_mean(x, -1, keepdims=True),
    "sum": lambda x: x * tf.tanh(tf.reduce_sum(x, -1, keepdims=True)),
    "softmax": tf.nn.softmax,
    "log softmax": lambda x: tf.tanh(tf.nn.log_softmax(x)),
    "elu": tf.nn.elu,
    "softplus": lambda x: tf.tanh(tf.nn.softplus(x)),
    "softsign": tf.nn.softsign,
    "error function": tf.math.erf,
    "cube": lambda x: tf.tanh(x) ** 3,
    "absolute": lambda x: tf.abs(x) + x * tf.sign(x),
    "leaky": lambda x: tf.where(x > 0.0, x, 0.1 * x),
    "clipped": lambda x: tf.clip_by_value(x, -0.5, 0.5),
    "between": lambda x: tf.where((x >= -0.5) & ~(x > 0.5), tf.abs(x), 0.5),
    "largest": lambda x: x - tf.reduce_max(x, -1, keepdims=True),
    "first column": lambda x: x * tf.tanh(x[..., :1]),
    "halves": lambda x: tf.concat(tf.split(x, 2, axis=-1)[::-1], -1),
    "a column of zeros": lambda x: turned(tf.cos(after_zero(x) + 0.5)),
}
BINARY = {
    "add": tf.add,
    "subtract": tf.subtract,
    "multiply": lambda a, b: tf.tanh(a) * tf.tanh(b),
    "larger": lambda a, b: tf.where(a > b, a, b),
    "divide": lambda a, b: a / (1.5 + tf.sin(b)),
    "squared difference": lambda a, b: tf.math.squared_difference(
        tf.tanh(a), tf.tanh(b)
    ),
}
LEAVES = ["x", "y", "half", "vector"]


def expressions():
    """Returns a strategy for names of what is computed, nested."""
    return st.recursive(
        st.sampled_from(LEAVES),
        lambda inner: st.one_of(
            st.tuples(st.sampled_from(sorted(UNARY)), inner),
            st.tuples(st.sampled_from(sorted(BINARY)), inner, inner),
        ),
        max_leaves=8,
    ).filter(lambda found: "x" in str(found) and not isinstance(found, str))


def compute(expression, leaves):
    """Returns what it computes, of rows, or of one of them."""
    if isinstance(expression, str):
        return leaves[expression]
    name, *operands = expression
    function = UNARY.get(name) or BINARY[name]
    # All are as wide as x.
    values = [compute(each, leaves) + 0.0 * leaves["x"] for each in operands]
    return function(*values)


def widths():
    """Returns a strategy for even widths, because halves are exchanged."""
    return st.sampled_from([2, 4, 6, 14, 16, 18, 30, 34, 62, 66, 130, 1026, 3000])


@hypothesis.settings(max_examples=25)
@hypothesis.given(
    expressions(),
    widths(),
    st.integers(1, 70),
    st.sampled_from([tf.float32, tf.float64]),
)
def test_a_random_cell_is_as_in_plain_tensorflow(expression, width, num_rows, dtype):
    random = np.random.default_rng(0)
    x, y = (tf.constant(random.normal(size=[num_rows, width]), dtype) for _ in "xy")
    vector = tf.Variable(random.normal(size=[width]), dtype=dtype)

    def leaves(x, y):
        half = tf.constant(0.5, dtype) + 0.0 * x
        return {"x": x, "y": y, "half": half, "vector": vector + 0.0 * x}

    options = rtf.Options(blocks="compiled")
    with rtf.SubGraph("cell", executor="batched", options=options) as cell:
        row = cell.input(tf.TensorSpec([width], dtype))
        other = cell.input(tf.TensorSpec([width], dtype))
        cell.output(compute(expression, leaves(row, other)))
    explanation = rtf.explain(cell)
    forward = cell.map(x, y)
    assert explanation.not_compiled == {}
    found = gradients_of(lambda: cell.map(x, y), [x, y, vector])
    expected = gradients_of(lambda: compute(expression, leaves(x, y)), [x, y, vector])
    np.testing.assert_array_equal(forward, found[0])
    rtol = 1e-4 if dtype == tf.float32 else 1e-11
    for one, wanted in zip(found, expected, strict=True):
        scale = max(1.0, float(tf.reduce_max(tf.abs(wanted))))
        np.testing.assert_allclose(one, wanted, rtol=rtol, atol=rtol * scale)


def gradients_of(function, by):
    with tf.GradientTape() as tape:
        tape.watch(by)
        value = function()
        total = tf.reduce_sum(tf.sin(value))
    zero = tf.UnconnectedGradients.ZERO
    return [value, *tape.gradient(total, by, unconnected_gradients=zero)]


@hypothesis.settings(max_examples=12)
@hypothesis.given(
    st.integers(1, 5000),
    st.integers(1, 40),
    st.sampled_from([tf.float32, tf.float64]),
)
def test_rows_may_be_of_any_width(width, num_rows, dtype):
    random = np.random.default_rng(width)
    x = tf.constant(random.normal(size=[num_rows, width]), dtype)
    options = rtf.Options(blocks="compiled")
    with rtf.SubGraph("cell", executor="batched", options=options) as cell:
        row = cell.input(tf.TensorSpec([width], dtype))
        cell.output(tf.nn.softmax(tf.tanh(2.0 * row)) * row - tf.reduce_max(row))
    explanation = rtf.explain(cell)
    found = cell.map(x)
    assert explanation.not_compiled == {}
    expected = tf.nn.softmax(tf.tanh(2.0 * x)) * x - tf.reduce_max(x, -1, keepdims=True)
    rtol = 1e-5 if dtype == tf.float32 else 1e-13
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)
