"""Blocks that compute with integers and bools: which child, which branch, how deep."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import failure_of, message_of

INTEGERS = [0, 1, -1, 5, -7, 2**31 - 1, -(2**31)]
BINARY = [
    tf.add,
    tf.subtract,
    tf.multiply,
    tf.maximum,
    tf.minimum,
    tf.less,
    tf.less_equal,
    tf.greater,
    tf.greater_equal,
    tf.equal,
    tf.not_equal,
]
DTYPES = [tf.int32, tf.int64]


def run(body, *rows, blocks="compiled"):
    """Returns what a body gives for rows, and that it was compiled if it should."""
    with rtf.SubGraph("f", executor="batched", options=rtf.Options(blocks=blocks)) as f:
        f.output(body(*(f.input(tf.TensorSpec([], each.dtype)) for each in rows)))
    explanation = rtf.explain(f)
    value = f.map(*rows)
    if blocks == "compiled":
        assert explanation.not_compiled == {}
    return value


def assert_same(body, *rows):
    found = run(body, *rows)
    expected = run(body, *rows, blocks="tensorflow")
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def all_pairs(dtype):
    a, b = np.meshgrid(INTEGERS, INTEGERS)
    return tf.constant(a.ravel(), dtype), tf.constant(b.ravel(), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", BINARY)
def test_two_integers(op, dtype):
    assert_same(op, *all_pairs(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("op", "expected"),
    [(tf.math.floordiv, np.floor_divide), (tf.math.floormod, np.mod)],
)
def test_quotients_round_down_and_rests_have_the_sign_of_the_divisor(
    op, expected, dtype
):
    a, b = (rows.numpy() for rows in all_pairs(dtype))
    # A quotient that does not fit ends the process in TensorFlow.
    is_known = (b != 0) & ((b != -1) | (a != dtype.min))
    rows = tf.constant(a[is_known]), tf.constant(b[is_known])
    assert_same(op, *rows)
    np.testing.assert_array_equal(run(op, *rows), expected(*rows))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_quotient_that_does_not_fit_is_cut_off(dtype):
    rows = tf.constant([dtype.min, 5], dtype), tf.constant([-1, -1], dtype)
    np.testing.assert_array_equal(run(tf.math.floordiv, *rows), [dtype.min, -5])
    np.testing.assert_array_equal(run(tf.math.floormod, *rows), [0, 0])


@pytest.mark.parametrize("op", [tf.math.floordiv, tf.math.floormod])
def test_a_division_by_zero_is_tensorflows_error(op):
    with rtf.SubGraph("f", executor="batched") as f:
        n = f.input(tf.TensorSpec([], tf.int32))
        f.output(op(7, n))
    message = message_of(
        lambda: f.map(tf.constant([1, 0])), tf.errors.InvalidArgumentError
    )
    assert "Integer division by zero" in message
    assert "SubGraph 'f'" in message


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_integer(dtype):
    (rows, _) = all_pairs(dtype)
    assert_same(lambda n: -n, rows)
    assert_same(lambda n: 3 - n * 2, rows)


@pytest.mark.parametrize("to", [tf.int32, tf.int64, tf.bool])
@pytest.mark.parametrize("dtype", [*DTYPES, tf.bool])
def test_casts_cut_off(dtype, to):
    rows = tf.cast(tf.constant([*INTEGERS, 2**32, 2**32 + 1, -(2**40)]), dtype)
    assert_same(lambda n: tf.cast(n, to), rows)


@pytest.mark.parametrize("blocks", ["compiled", "tensorflow"])
@pytest.mark.parametrize("to", [tf.int8, tf.uint8, tf.int16, tf.uint16, tf.uint32])
def test_numbers_of_other_dtypes_are_as_wide_as_these(to, blocks):
    with rtf.SubGraph("f", options=rtf.Options(blocks=blocks)) as f:
        n = f.input(tf.int32)
        f.output((tf.cast(n * 37 + 11, to), n))
    # So many that what stands behind them is hit if they are written too wide.
    rows = tf.range(100)
    found, passed = f.map(rows)
    np.testing.assert_array_equal(found, tf.cast(rows * 37 + 11, to))
    np.testing.assert_array_equal(passed, rows)


def test_bools():
    a, b = tf.constant([True, True, False, False]), tf.constant([True, False] * 2)
    for op in (tf.logical_and, tf.logical_or, tf.not_equal, tf.equal):
        assert_same(op, a, b)
    assert_same(lambda x, y: tf.logical_not(x) | y, a, b)


def test_a_choice_between_two():
    a, b = all_pairs(tf.int32)
    assert_same(lambda x, y: tf.where(x < y, x * 2, y), a, b)


@pytest.mark.parametrize("dtype", [*DTYPES, tf.bool])
def test_elements_of_what_is_captured(dtype):
    table = tf.cast(tf.constant([4, 0, 0, 7]), dtype)
    rows = tf.constant([0, 3, 1, 3, 2])
    assert_same(lambda n: tf.gather(table, n), rows)


def test_a_captured_number():
    limit = tf.Variable(3)
    rows = tf.constant([1, 3, 9])
    assert_same(lambda n: n < limit, rows)


@pytest.mark.parametrize("index", [-1, 4])
def test_an_element_that_is_not_there_is_tensorflows_error(index):
    table = tf.constant([4, 0, 0, 7])
    with rtf.SubGraph("f", executor="batched") as f:
        f.output(tf.gather(table, f.input(tf.TensorSpec([], tf.int32))))
    message = message_of(
        lambda: f.map(tf.constant([1, index])), tf.errors.InvalidArgumentError
    )
    assert f"{index} is not in [0, 4)" in message


def test_a_child_that_a_leaf_lacks_is_not_looked_up():
    left, value = tf.constant([-1, 0, 1]), tf.constant([5, 7, 9])
    for blocks in ("compiled", "tensorflow"):
        options = rtf.Options(blocks=blocks)
        with rtf.SubGraph(
            "f", output_signature=tf.TensorSpec([], tf.int32), options=options
        ) as f:
            node = f.input(tf.TensorSpec([], tf.int32))
            child = tf.gather(left, node)
            below = lambda c=child: f(c)  # noqa: E731
            rest = tf.cond(child < 0, lambda: tf.constant(0), below)
            f.output(rest + tf.gather(value, node))
        np.testing.assert_array_equal(f.map(tf.constant([0, 1, 2])), [5, 12, 21])


def test_vectors_of_integers_pass():
    rows = tf.reshape(tf.range(12), [4, 3])
    with rtf.SubGraph("f", executor="batched") as f:
        x, n = f.input(tf.TensorSpec([3], tf.int32)), f.input(tf.TensorSpec([]))
        f.output(tf.tanh(n), x)
    _, found = f.map(rows, tf.zeros([4]))
    np.testing.assert_array_equal(found, rows)


@pytest.mark.parametrize("blocks", ["compiled", "tensorflow"])
@pytest.mark.parametrize("dtype", [tf.int32, tf.int64], ids=["int32", "int64"])
def test_a_table_that_nobody_looks_into_may_be_empty(blocks, dtype):
    """What is next is looked up beside the condition: also of -1, and of no table."""

    def steps_from(next_of, starts):
        options = rtf.Options(blocks=blocks)
        with rtf.SubGraph("steps", executor="batched", options=options) as steps:
            place = steps.input(dtype)

            def go_on():
                return 1 + steps(tf.gather(next_of, place))

            steps.output(tf.cond(place < 0, lambda: tf.constant(0), go_on))
        return steps.map(starts)

    signature = [tf.TensorSpec([None], dtype)] * 2
    traced = tf.function(steps_from, input_signature=signature)
    np.testing.assert_array_equal(traced([], [-1, -2, -1]), [0, 0, 0])
    np.testing.assert_array_equal(traced([1, 2, -1], [0, -1, 2]), [3, 0, 1])
    failure = failure_of(lambda: traced([], [-1, 0]))
    assert failure == (
        "SubGraph 'steps' failed at steps[row 1]: indices = 0 is not in [0, 0)"
    )
