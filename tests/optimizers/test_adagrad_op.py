"""The op that updates all variables at once: its memory, its rows, its errors."""

import numpy as np
import pytest
import tensorflow as tf

from recursive_tf.ops import library
from tests.helpers.failures import message_of

WIDE = 2500  # More than threads take at a time.


def apply(variables=(), tables=(), *, rate=0.5, dtype=tf.float32):
    """Applies gradients: of variables, and of tables with the rows' indices."""
    library.recursive_apply_adagrad(
        variables=[variable.handle for variable, _, _ in variables],
        sums=[sums.handle for _, sums, _ in variables],
        gradients=[gradient for _, _, gradient in variables],
        rates=[tf.constant(rate, dtype)] * len(variables),
        tables=[table.handle for table, _, _, _ in tables],
        table_sums=[sums.handle for _, sums, _, _ in tables],
        rows=[rows for _, _, rows, _ in tables],
        indices=[tf.constant(indices, tf.int64) for _, _, _, indices in tables],
        table_rates=[tf.constant(rate, dtype)] * len(tables),
    )


def expected(variable, sums, gradient, rate=0.5):
    sums = sums + gradient**2
    return variable - rate * gradient / np.sqrt(sums), sums


def pair(shape, dtype=tf.float32):
    values = tf.random.stateless_normal(shape, [1, 2], dtype=dtype)
    return tf.Variable(values), tf.Variable(tf.fill(shape, tf.constant(0.1, dtype)))


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("shape", [[], [1], [7], [WIDE], [3, WIDE]])
def test_variables_of_any_size(shape, dtype):
    variable, sums = pair(shape, dtype)
    gradient = tf.random.stateless_normal(shape, [3, 4], dtype=dtype)
    wanted = expected(variable.numpy(), sums.numpy(), gradient.numpy())
    apply([(variable, sums, gradient)], dtype=dtype)
    np.testing.assert_allclose(variable, wanted[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(sums, wanted[1], rtol=1e-6)


@pytest.mark.parametrize("width", [1, 5, WIDE])
def test_rows_that_occur_often_are_added_up(width):
    table, sums = pair([50, width])
    indices = np.random.default_rng(0).integers(0, 20, 400)
    rows = tf.random.stateless_normal([400, width], [5, 6])
    total = np.zeros([50, width], np.float32)
    np.add.at(total, indices, rows.numpy())
    wanted = expected(table.numpy(), sums.numpy(), total)
    apply(tables=[(table, sums, rows, indices)])
    np.testing.assert_allclose(table, wanted[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(sums, wanted[1], rtol=1e-4, atol=1e-5)


def test_nobody_looked_up_a_row():
    table, sums = pair([4, 3])
    before = table.numpy()
    apply(tables=[(table, sums, tf.zeros([0, 3]), [])])
    np.testing.assert_array_equal(table, before)


def test_what_was_read_before_stays_as_it_was():
    variable, sums = pair([100])
    table, table_sums = pair([10, 3])
    read, rows = variable.read_value(), table.read_value()
    before, rows_before = read.numpy().copy(), rows.numpy().copy()
    apply(
        [(variable, sums, tf.ones([100]))],
        [(table, table_sums, tf.ones([1, 3]), [2])],
    )
    np.testing.assert_array_equal(read, before)
    np.testing.assert_array_equal(rows, rows_before)
    assert np.all(variable.numpy() != before)
    later = table.read_value()
    assert np.all(later[2] != rows_before[2])
    later_before = later.numpy().copy()
    apply(tables=[(table, table_sums, tf.ones([1, 3]), [2])])
    np.testing.assert_array_equal(later, later_before)


def test_infinity_and_nan_reach_only_their_own_numbers():
    variable, sums = pair([5])
    apply([(variable, sums, tf.constant([1.0, np.nan, 2.0, np.inf, 0.0]))])
    assert list(np.isfinite(variable.numpy())) == [True, False, True, False, True]


@pytest.mark.parametrize("index", [-1, 4])
def test_a_row_that_is_not_there_is_an_error_before_anything_changes(index):
    table, sums = pair([4, 3])
    before = table.numpy()
    rows = tf.ones([2, 3])
    message = message_of(
        lambda: apply(tables=[(table, sums, rows, [0, index])]),
        tf.errors.InvalidArgumentError,
    )
    assert f"indices[1] = {index} is not in [0, 4)" in message
    np.testing.assert_array_equal(table, before)


def test_gradients_of_another_shape_are_an_error():
    variable, sums = pair([4])
    table, table_sums = pair([4, 3])
    of_variable = message_of(
        lambda: apply([(variable, sums, tf.ones([5]))]), tf.errors.InvalidArgumentError
    )
    assert "which has the shape [4], has the shape [5]" in of_variable
    of_table = message_of(
        lambda: apply(tables=[(table, table_sums, tf.ones([2, 2]), [0, 1])]),
        tf.errors.InvalidArgumentError,
    )
    assert "which has the shape [4,3], has the shape [2,2]" in of_table


def test_a_variable_of_another_dtype_is_an_error():
    variable, sums = pair([4], tf.float64)
    message = message_of(
        lambda: apply([(variable, sums, tf.ones([4]))]),
        tf.errors.FailedPreconditionError,
    )
    assert "no values of dtype float" in message
