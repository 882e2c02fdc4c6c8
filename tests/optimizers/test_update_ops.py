"""The ops that update all variables at once: their memory, their rows, their errors."""

import numpy as np
import pytest
import tensorflow as tf

from recursive_tf.ops import library
from tests.helpers.failures import message_of

WIDE = 2500  # More than are computed with at a time.
PARTS = 40_000  # More than one thread takes.
RATE = 0.5
BETA_1, BETA_2, EPSILON, STEP = 0.9, 0.99, 1e-3, 3


class Adagrad:
    """Of one slot."""

    starts = (0.1,)

    @staticmethod
    def apply(variables=(), tables=(), dtype=tf.float32, table_rates=None):
        """Applies gradients: of variables, and of tables with the rows' indices."""
        library.recursive_apply_adagrad(
            sums=[slots[0].handle for _, slots, _ in variables],
            table_sums=[slots[0].handle for _, slots, _, _ in tables],
            **arguments(variables, tables, dtype, table_rates),
        )

    @staticmethod
    def expected(variable, slots, gradient):
        sums = slots[0] + gradient**2
        return variable - RATE * gradient / np.sqrt(sums), [sums]


class Adam:
    """Of two slots."""

    starts = (0.2, 0.1)

    @staticmethod
    def apply(variables=(), tables=(), dtype=tf.float32, table_rates=None, **others):
        numbers = {"beta_1": BETA_1, "beta_2": BETA_2, "epsilon": EPSILON, **others}
        library.recursive_apply_adam(
            means=[slots[0].handle for _, slots, _ in variables],
            squares=[slots[1].handle for _, slots, _ in variables],
            table_means=[slots[0].handle for _, slots, _, _ in tables],
            table_squares=[slots[1].handle for _, slots, _, _ in tables],
            step=tf.constant(STEP, tf.int64),
            **{name: tf.constant(number, dtype) for name, number in numbers.items()},
            **arguments(variables, tables, dtype, table_rates),
        )

    @staticmethod
    def expected(variable, slots, gradient):
        mean = BETA_1 * slots[0] + (1 - BETA_1) * gradient
        square = BETA_2 * slots[1] + (1 - BETA_2) * gradient**2
        unbiased = mean / (1 - BETA_1**STEP), square / (1 - BETA_2**STEP)
        # Epsilon is added before the square's bias is taken away: section 2.
        epsilon = EPSILON / np.sqrt(1 - BETA_2**STEP)
        step = unbiased[0] / (np.sqrt(unbiased[1]) + epsilon)
        return variable - RATE * step, [mean, square]


def arguments(variables, tables, dtype, table_rates=None):
    return {
        "variables": [variable.handle for variable, _, _ in variables],
        "gradients": [gradient for _, _, gradient in variables],
        "rates": [tf.constant(RATE, dtype)] * len(variables),
        "tables": [table.handle for table, _, _, _ in tables],
        "rows": [rows for _, _, rows, _ in tables],
        "indices": [
            tf.constant(indices, getattr(indices, "dtype", tf.int64))
            for _, _, _, indices in tables
        ],
        "table_rates": table_rates or [tf.constant(RATE, dtype)] * len(tables),
    }


@pytest.fixture(params=[Adagrad, Adam], ids=["adagrad", "adam"])
def rule(request):
    return request.param


def make(rule, shape, dtype=tf.float32):
    values = tf.random.stateless_normal(shape, [1, 2], dtype=dtype)
    return tf.Variable(values), [
        tf.Variable(tf.fill(shape, tf.constant(start, dtype))) for start in rule.starts
    ]


def numbers(slots):
    return [slot.numpy() for slot in slots]


def check(rule, variable, slots, wanted, rtol=1e-4):
    np.testing.assert_allclose(variable, wanted[0], rtol=rtol, atol=1e-5)
    for slot, number in zip(slots, wanted[1], strict=True):
        np.testing.assert_allclose(slot, number, rtol=rtol, atol=1e-5)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("shape", [[], [1], [7], [WIDE], [3, PARTS]])
def test_variables_of_any_size(rule, shape, dtype):
    variable, slots = make(rule, shape, dtype)
    gradient = tf.random.stateless_normal(shape, [3, 4], dtype=dtype)
    wanted = rule.expected(variable.numpy(), numbers(slots), gradient.numpy())
    rule.apply([(variable, slots, gradient)], dtype=dtype)
    check(rule, variable, slots, wanted, rtol=1e-5)


def test_several_variables_and_tables_each_have_their_own(rule):
    variables = [make(rule, [size]) for size in (5, 3)]
    gradients = [tf.random.stateless_normal([size], [5, size]) for size in (5, 3)]
    tables = [make(rule, [size, 2]) for size in (4, 6)]
    wanted = [
        rule.expected(variable.numpy(), numbers(slots), gradient.numpy())
        for (variable, slots), gradient in zip(variables, gradients, strict=True)
    ]
    of_rows = [
        rule.expected(table.numpy()[1:3], [each[1:3] for each in numbers(slots)], 0.5)
        for table, slots in tables
    ]
    rows = tf.fill([2, 2], 0.5)
    rule.apply(
        [
            (*variable, gradient)
            for variable, gradient in zip(variables, gradients, strict=True)
        ],
        [(*table, rows, [1, 2]) for table in tables],
    )
    for (variable, slots), each in zip(variables, wanted, strict=True):
        check(rule, variable, slots, each)
    for (table, slots), each in zip(tables, of_rows, strict=True):
        check(rule, table[1:3], [slot[1:3] for slot in slots], each)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("width", [1, 5, WIDE])
def test_rows_that_occur_often_are_added_up(rule, width, index):
    table, slots = make(rule, [50, width])
    before = table.numpy(), numbers(slots)
    indices = np.random.default_rng(0).integers(0, 20, 400, index)
    rows = tf.random.stateless_normal([400, width], [5, 6])
    total = np.zeros([50, width], np.float32)
    np.add.at(total, indices, rows.numpy())
    wanted = rule.expected(*before, total)
    rule.apply(tables=[(table, slots, rows, indices)])
    used = np.unique(indices)
    check(
        rule,
        table.numpy()[used],
        [each[used] for each in numbers(slots)],
        (wanted[0][used], [each[used] for each in wanted[1]]),
    )
    others = np.setdiff1d(np.arange(50), used)
    np.testing.assert_array_equal(table.numpy()[others], before[0][others])
    for slot, number in zip(numbers(slots), before[1], strict=True):
        np.testing.assert_array_equal(slot[others], number[others])


def test_nobody_looked_up_a_row(rule):
    table, slots = make(rule, [4, 3])
    before = table.numpy()
    rule.apply(tables=[(table, slots, tf.zeros([0, 3]), [])])
    np.testing.assert_array_equal(table, before)


def test_what_was_read_before_stays_as_it_was(rule):
    variable, slots = make(rule, [100])
    table, table_slots = make(rule, [10, 3])
    read, rows = variable.read_value(), table.read_value()
    before, rows_before = read.numpy().copy(), rows.numpy().copy()
    rule.apply(
        [(variable, slots, tf.ones([100]))],
        [(table, table_slots, tf.ones([1, 3]), [2])],
    )
    np.testing.assert_array_equal(read, before)
    np.testing.assert_array_equal(rows, rows_before)
    assert np.all(variable.numpy() != before)
    later = table.read_value()
    assert np.all(later[2] != rows_before[2])
    later_before = later.numpy().copy()
    rule.apply(tables=[(table, table_slots, tf.ones([1, 3]), [2])])
    np.testing.assert_array_equal(later, later_before)


def test_infinity_and_nan_reach_only_their_own_numbers(rule):
    variable, slots = make(rule, [5])
    rule.apply([(variable, slots, tf.constant([1.0, np.nan, 2.0, np.inf, 0.0]))])
    assert list(np.isfinite(variable.numpy())) == [True, False, True, False, True]


@pytest.mark.parametrize("index", [-1, 4])
def test_a_row_that_is_not_there_is_an_error_before_anything_changes(rule, index):
    variable, of_variable = make(rule, [5])
    table, slots = make(rule, [4, 3])
    before = variable.numpy(), table.numpy()
    message = message_of(
        lambda: rule.apply(
            [(variable, of_variable, tf.ones([5]))],
            [(table, slots, tf.ones([2, 3]), [0, index])],
        ),
        tf.errors.InvalidArgumentError,
    )
    assert f"indices[1] = {index} is not in [0, 4)" in message
    np.testing.assert_array_equal(variable, before[0])
    np.testing.assert_array_equal(table, before[1])


def test_a_rate_that_is_no_number_is_an_error_before_anything_changes(rule):
    variable, of_variable = make(rule, [5])
    table, slots = make(rule, [4, 3])
    before = variable.numpy()
    message = message_of(
        lambda: rule.apply(
            [(variable, of_variable, tf.ones([5]))],
            [(table, slots, tf.ones([2, 3]), [0, 1])],
            table_rates=[tf.ones([2])],
        ),
        tf.errors.InvalidArgumentError,
    )
    assert "is not one number" in message
    np.testing.assert_array_equal(variable, before)


def test_gradients_of_another_shape_are_an_error(rule):
    variable, slots = make(rule, [4])
    table, table_slots = make(rule, [4, 3])
    of_variable = message_of(
        lambda: rule.apply([(variable, slots, tf.ones([5]))]),
        tf.errors.InvalidArgumentError,
    )
    assert "which has the shape [4], has the shape [5]" in of_variable
    of_table = message_of(
        lambda: rule.apply(tables=[(table, table_slots, tf.ones([2, 2]), [0, 1])]),
        tf.errors.InvalidArgumentError,
    )
    assert "which has the shape [4,3], has the shape [2,2]" in of_table


def test_slots_of_another_shape_are_an_error(rule):
    variable, slots = make(rule, [4])
    slots[-1] = make(rule, [5])[0]
    message = message_of(
        lambda: rule.apply([(variable, slots, tf.ones([4]))]),
        tf.errors.InvalidArgumentError,
    )
    assert "which an optimizer keeps of it, do not have the same shape" in message


def test_a_variable_of_another_dtype_is_an_error(rule):
    variable, slots = make(rule, [4], tf.float64)
    message = message_of(
        lambda: rule.apply([(variable, slots, tf.ones([4]))]),
        tf.errors.FailedPreconditionError,
    )
    assert "no values of dtype float" in message


def test_betas_that_are_no_single_number_are_an_error():
    variable, slots = make(Adam, [4])
    message = message_of(
        lambda: Adam.apply([(variable, slots, tf.ones([4]))], beta_2=[0.9, 0.9]),
        tf.errors.InvalidArgumentError,
    )
    assert "beta_1, beta_2, epsilon and step are one number each" in message
