"""Functions of each number that are made of several instructions, or are rarer."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.blocks.compared import rows_and_gradient
from tests.helpers.close import assert_all_close

ACTIVATIONS = {
    "elu": tf.nn.elu,
    "gelu": tf.nn.gelu,
    "gelu by tanh": lambda x: tf.nn.gelu(x, approximate=True),
    "leaky relu": lambda x: tf.nn.leaky_relu(x, 0.3),
    "log sigmoid": tf.math.log_sigmoid,
    "mish": lambda x: x * tf.tanh(tf.nn.softplus(x)),
    "relu6": lambda x: tf.nn.relu6(4.0 * x),
    "selu": tf.nn.selu,
    "silu": tf.nn.silu,
    "softplus": tf.nn.softplus,
    "softsign": tf.nn.softsign,
    "erf": tf.math.erf,
    "erfc": tf.math.erfc,
}
FUNCTIONS = {
    "ceil": tf.math.ceil,
    "floor": tf.floor,
    "rint": tf.math.rint,
    "round": tf.round,
    "floor of a quotient": lambda x: x // 0.7,
    "power of a half": lambda x: tf.abs(x) ** 0.5,
    "power of -2": lambda x: x**-2.0,
    "power of 4": lambda x: x**4.0,
    "power of numbers": lambda x: tf.pow(tf.abs(x), x),
    "power of a constant": lambda x: tf.pow(tf.constant(1.5, x.dtype), x),
    "divide no nan": lambda x: tf.math.divide_no_nan(x, x - 1.0),
    "multiply no nan": lambda x: tf.math.multiply_no_nan(1.0 / x, x),
    "xdivy": lambda x: tf.math.xdivy(x, x - 1.0),
    "xlogy": lambda x: tf.math.xlogy(x, tf.abs(x)),
    "xlog1py": lambda x: tf.math.xlog1py(x, tf.abs(x)),
}
OF_ONE_OP = ("elu", "leaky relu", "relu6", "selu", "softplus", "softsign", "erfc")


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=["float", "double"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_those_of_tensorflow(name, dtype):
    rows = 1.5 * tf.random.stateless_normal([7, 21], [1, 2], dtype=dtype)
    found = rows_and_gradient(ACTIVATIONS[name], rows, "compiled")
    assert_all_close(found, rows_and_gradient(ACTIVATIONS[name], rows, "tensorflow"))


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=["float", "double"])
@pytest.mark.parametrize("name", OF_ONE_OP)
def test_special_numbers_pass_as_in_tensorflow(name, dtype):
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, 50.0, -50.0, 1e30, -1e30]
    rows = tf.constant([special], dtype)
    found = rows_and_gradient(ACTIVATIONS[name], rows, "compiled")
    expected = rows_and_gradient(ACTIVATIONS[name], rows, "tensorflow")
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-30)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=["float", "double"])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions_are_those_of_tensorflow(function, dtype):
    rows = 2.5 * tf.random.stateless_normal([7, 21], [1, 2], dtype=dtype)
    found = rows_and_gradient(function, rows, "compiled")
    assert_all_close(found, rows_and_gradient(function, rows, "tensorflow"))


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=["float", "double"])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions_of_special_numbers(function, dtype):
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, 1.0, 1.5, -2.5, 1e30, -1e30]
    rows = tf.constant([special], dtype)
    found, _ = rows_and_gradient(function, rows, "compiled")
    expected, _ = rows_and_gradient(function, rows, "tensorflow")
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=["float", "double"])
def test_the_error_function_has_limits(dtype):
    rows = tf.constant([[np.inf, -np.inf, np.nan, 1e30, -1e30]], dtype)
    value, _ = rows_and_gradient(tf.math.erf, rows, "compiled")
    np.testing.assert_array_equal(value, [[1.0, -1.0, np.nan, 1.0, -1.0]])


@pytest.mark.parametrize("reduce", [tf.reduce_any, tf.reduce_all])
def test_bools_of_a_row_become_one(reduce):
    def body(x):
        return tf.where(reduce(x > 0.0), x, -2.0 * x)

    rows = tf.constant([[1.0, 2.0], [1.0, -1.0], [-1.0, -2.0], [np.nan, 1.0]])
    found = rows_and_gradient(body, rows, "compiled")
    for one, other in zip(
        found, rows_and_gradient(body, rows, "tensorflow"), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def assert_values_are_those_of_tensorflow(body):
    """Of values alone: what computes of shared numbers is no block in a gradient."""
    rows = tf.random.stateless_normal([7, 3], [1, 2])

    def values(blocks):
        with rtf.SubGraph("f", options=rtf.Options(blocks=blocks)) as f:
            f.output(body(f.input(tf.TensorSpec([3]))))
        return f.map(rows)

    assert_all_close([values("compiled")], [values("tensorflow")])


@pytest.mark.parametrize("function", [tf.math.xlogy, tf.math.xlog1py])
def test_a_logarithm_may_be_of_what_rows_share(function):
    shared = tf.Variable([0.5, 2.0, 3.0])
    assert_values_are_those_of_tensorflow(
        lambda x: function(x, shared) + function(x[:1], 1.5) * x
    )


def test_the_base_of_a_power_may_be_shared():
    first, *others = [tf.Variable([1.5 + i, 2.0, 3.0 - 0.1 * i]) for i in range(6)]
    assert_values_are_those_of_tensorflow(
        lambda x: tf.add_n([tf.pow(first, x), *(tf.sin(x * other) for other in others)])
    )
