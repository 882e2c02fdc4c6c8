"""Where the largest number of a row is, and what it selects."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.close import assert_all_close
from tests.helpers.failures import failure_of

ROWS, CLASSES, WIDTH = 60, 7, 4
FLOATS = [tf.float32, tf.float64]
PLACES = {"argmax": tf.argmax, "argmin": tf.argmin}
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, 0.0, 2.5, 2.5])


def rows_of(dtype, *shape):
    # Of few different numbers, so that the largest one comes several times.
    numbers = tf.random.stateless_uniform([ROWS, *shape], [1, 2], -3, 3, tf.int32)
    return tf.cast(numbers, dtype)


def define(body, blocks, *inputs):
    with rtf.SubGraph("f", executor="batched", options=rtf.Options(blocks=blocks)) as f:
        f.output(body(*(f.input(tf.TensorSpec(x.shape[1:], x.dtype)) for x in inputs)))
    return f


def assert_compiled_as_tensorflow(body, *inputs):
    compiled, tensorflow = (
        define(body, blocks, *inputs) for blocks in ("compiled", "tensorflow")
    )
    explanation = rtf.explain(compiled)
    found, expected = compiled.map(*inputs), tensorflow.map(*inputs)
    assert explanation.not_compiled == {}
    assert found.dtype == expected.dtype
    assert_all_close(found, expected)
    return found


@pytest.mark.parametrize("place_of", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("dtype", FLOATS, ids=["float", "double"])
@pytest.mark.parametrize("num_classes", [1, 2, 16, 37, 1000])
def test_the_first_of_the_best(place_of, dtype, num_classes):
    rows = rows_of(dtype, num_classes)
    for output_type in (tf.int32, tf.int64):
        found = assert_compiled_as_tensorflow(
            lambda row, output_type=output_type: place_of(row, output_type=output_type),
            rows,
        )
        np.testing.assert_array_equal(found, place_of(rows, axis=1))


@pytest.mark.parametrize("place_of", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
def test_any_axis(place_of, axis):
    rows = rows_of(tf.float32, 3, 5, 2)
    assert_compiled_as_tensorflow(lambda row: place_of(row, axis=axis), rows)


@pytest.mark.parametrize("place_of", PLACES.values(), ids=PLACES)
def test_nan_is_never_the_best(place_of):
    random = np.random.default_rng(0)
    rows = tf.constant(random.choice(SPECIAL, (500, 5)), tf.float32)
    for each in (rows, tf.fill([3, 5], np.nan), tf.fill([3, 5], -np.inf)):
        assert_compiled_as_tensorflow(place_of, tf.cast(each, tf.float32))


@pytest.mark.parametrize(
    "body",
    [
        lambda row: tf.cast(tf.argmax(row), tf.int32),
        lambda row: tf.cast(tf.argmax(row), tf.float32) * row,
        lambda row: tf.one_hot(tf.argmax(row), CLASSES) * row,
        lambda row: tf.one_hot(tf.argmax(row), 3, 2.0, -1.0),
        lambda row: tf.where(tf.argmax(row) == 3, row, -row),
        lambda row: tf.where(tf.argmax(row) < tf.argmin(row), row, -row),
        lambda row: tf.where(tf.constant(2, tf.int64) >= tf.argmax(row), row, -row),
    ],
    ids=["cast", "float", "one_hot", "two values", "equal", "less", "constant"],
)
def test_what_is_made_of_it(body):
    assert_compiled_as_tensorflow(body, rows_of(tf.float32, CLASSES))


def test_it_is_compared_with_numbers_of_the_row():
    labels = tf.range(ROWS, dtype=tf.int32) % CLASSES
    assert_compiled_as_tensorflow(
        lambda row, label: tf.argmax(row, output_type=tf.int32) == label,
        rows_of(tf.float32, CLASSES),
        labels,
    )


@pytest.mark.parametrize("dtype", FLOATS, ids=["float", "double"])
@pytest.mark.parametrize("is_variable", [False, True])
def test_it_selects_a_row(dtype, is_variable):
    table = tf.random.stateless_normal([CLASSES, 2, WIDTH], [3, 4], dtype=dtype)
    table = tf.Variable(table) if is_variable else table
    assert_compiled_as_tensorflow(
        lambda row: tf.tanh(tf.gather(table, tf.argmax(row))) * row[0],
        rows_of(dtype, CLASSES),
    )


def test_gradients_of_what_it_selects():
    variables = [
        tf.Variable(tf.random.stateless_normal(shape, [5, 6]))
        for shape in ([CLASSES, WIDTH], [WIDTH, CLASSES])
    ]
    words, weights = variables
    inputs = tf.random.stateless_normal([ROWS, WIDTH], [7, 8])

    def body(row):
        logits = tf.linalg.matvec(weights, row, transpose_a=True)
        return tf.reduce_sum(tf.gather(words, tf.argmax(logits)) * row) + logits[0]

    def gradients_of(blocks):
        f = define(body, blocks, inputs)
        explanation = rtf.explain(f)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.sin(f.map(inputs)))
        found = [tf.convert_to_tensor(g) for g in tape.gradient(loss, variables)]
        return found, explanation

    found, explanation = gradients_of("compiled")
    assert explanation.not_compiled == {}
    for one, other in zip(found, gradients_of("tensorflow")[0], strict=True):
        assert_all_close(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("share", [False, True])
def test_a_row_that_is_not_there_is_refused(share):
    table = tf.ones([3, WIDTH])
    rows = tf.one_hot([0, 2, 1, 5], CLASSES)

    def body(row):
        return tf.gather(table, tf.argmax(row))

    with rtf.SubGraph(
        "f", executor="batched", options=rtf.Options(share_rows=share)
    ) as f:
        f.output(body(tf.gather(rows, f.input(tf.int32))))
    found = failure_of(lambda: f.map([0, 1, 1, 2, 3]))
    assert "failed at f[row 4] in block 'f test_argmax.py" in found
    assert "indices[0] = 5 is not in [0, 3)" in found
    # What comes after it is computed as ever.
    assert_all_close(f.map([0, 1, 2]), tf.ones([3, WIDTH]))


def test_a_greedy_program_is_compiled_whole():
    """Which word comes next decides what is called."""
    words = tf.Variable(tf.random.stateless_normal([CLASSES, WIDTH], [1, 1]))
    weights = tf.Variable(tf.random.stateless_normal([WIDTH, CLASSES], [2, 2]))

    def define_say(executor):
        with rtf.SubGraph("say", executor=executor, output_signature=tf.int32) as say:
            row, left = say.input(tf.TensorSpec([WIDTH])), say.input(tf.int32)
            logits = tf.linalg.matvec(weights, row, transpose_a=True)
            word = tf.argmax(logits, output_type=tf.int32)
            said = tf.tanh(row + tf.gather(words, word))
            stops = tf.logical_or(word == 0, left == 0)
            later = tf.cond(stops, lambda: 0, lambda: say(said, left - 1))
            say.output(CLASSES * later + word)
        return say

    batched, dataflow = map(define_say, ("batched", "dataflow"))
    starts = tf.random.stateless_normal([20, WIDTH], [3, 3])
    lefts = tf.range(20) % 6
    explanation = rtf.explain(batched)
    np.testing.assert_array_equal(
        batched.map(starts, lefts), dataflow.map(starts, lefts)
    )
    assert explanation.not_compiled == {}


@pytest.mark.parametrize(
    "body",
    [
        lambda row: tf.argmax(row) + 1,
        lambda row: 2 * tf.argmax(row) - tf.argmin(row),
        lambda row: -tf.argmax(row, output_type=tf.int32),
        lambda row: tf.abs(tf.argmax(row) - 3),
        lambda row: tf.maximum(tf.argmax(row), tf.argmin(row)),
        lambda row: tf.minimum(tf.argmax(row), 2),
        lambda row: tf.where(row[0] > 0, tf.argmax(row), tf.argmin(row)),
        lambda row: tf.where(row > 0, tf.argmax(row), 9),
        lambda row: tf.cast(row > 0, tf.int32),
        lambda row: 1 + tf.cast(row > 0, tf.int64) * 2,
        lambda row: tf.reduce_sum(tf.cast(row > 0, tf.int32)),
        lambda row: tf.reduce_max(tf.cast(row > 0, tf.int32) * 5),
        lambda row: tf.reduce_min(tf.cast(row > 0, tf.int32)) == 0,
        lambda row: tf.argmax(row) * 2**21,
        lambda row: tf.cast(row > 0, tf.int64) * (2**24 - 1) == 2**24,
        lambda row: tf.cast(row > 0, tf.int64) * (2**24 - 1) < 2**50 + 1,
    ],
    ids=range(16),
)
@pytest.mark.parametrize("dtype", FLOATS, ids=["float", "double"])
def test_whole_numbers_that_are_computed_of_it(body, dtype):
    assert_compiled_as_tensorflow(body, rows_of(dtype, CLASSES))


@pytest.mark.parametrize(
    "body",
    [
        lambda row, number: tf.argmax(row, output_type=tf.int32) + number,
        lambda row, _: tf.argmax(row) * 2**22,
        lambda row, _: tf.argmax(row) + 2**40,
        lambda row, _: tf.argmax(row) // 2,
        lambda row, _: tf.reduce_mean(tf.cast(row > 0, tf.int32)),
    ],
    ids=["given", "large", "larger", "quotient", "mean"],
)
def test_whole_numbers_that_may_be_large_are_not_compiled(body):
    """A float would not be each of them."""
    inputs = rows_of(tf.float32, CLASSES), tf.range(ROWS)
    found, tensorflow = (
        define(body, blocks, *inputs) for blocks in ("compiled", "tensorflow")
    )
    explanation = rtf.explain(found)
    np.testing.assert_array_equal(found.map(*inputs), tensorflow.map(*inputs))
    (reason,) = explanation.not_compiled.values()
    assert "whole numbers that the block computes" in reason or "FloorDiv" in reason
