"""Variables, tables and other effects in bodies."""

from functools import partial

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import failure_of
from tests.helpers.subgraphs import define_walk
from tests.helpers.unrolled import (
    assert_close,
    check_call,
    check_rows,
    define_repeat,
    unroll,
)
from tests.language.features import feature

feature = partial(feature, "State and effects")

EFFECT = "it has an effect for each activation"
ROWS = [0.5, -1.0, 2.0]


def visits(n):
    """Returns the numbers that a recursion notes between its calls for n - 1, n - 2."""
    return [] if n < 1 else [*visits(n - 1), n, *visits(n - 2)]


def define_visits(note):
    with rtf.SubGraph("visit") as visit:
        n = visit.input(tf.int32)

        def more():
            left = visit(n - 1)
            with tf.control_dependencies([note(n)]):
                return left + visit(n - 2) + 1

        visit.output(tf.cond(n < 1, lambda: 0, more))
    return visit


# --- Variables


@feature("variables that bodies read", gradients=True)
def test_variables_that_are_read():
    weight, other = tf.Variable(1.5), tf.Variable(0.5)
    step = lambda y, n: tf.cond(n > 1, lambda: y * weight, lambda: y + other)  # noqa: E731
    check_rows(step, ROWS, weight, other)


@feature("variables that change between root calls", gradients=True)
def test_variables_that_change_between_calls():
    weight = tf.Variable(2.0)
    repeat = define_repeat(lambda y, n: y * weight)

    @tf.function
    def run():
        with tf.GradientTape(persistent=True) as tape:
            before = repeat(3, 1.0)
            weight.assign(3.0)
            after = repeat(3, 1.0)
        return (
            before,
            after,
            tape.gradient(before, weight),
            tape.gradient(after, weight),
        )

    assert [float(x) for x in run()] == [8, 27, 12, 27]


@feature(
    "assignments, in the order in which they stand",
    refused=f"AssignAddVariableOp … {EFFECT}",
)
def test_assignments_in_order():
    count = tf.Variable(0)
    log = tf.Variable(tf.zeros([20], tf.int32))

    def note(n):
        place = count.assign_add(1) - 1
        return log.scatter_nd_update([[place]], [n])

    assert int(define_visits(note)(4)) == len(visits(4))
    assert log[: len(visits(4))].numpy().tolist() == visits(4)


@feature(
    "reads that see the assignments before them",
    gradients=True,
    refused=f"AssignAddVariableOp … {EFFECT}",
)
def test_reads_see_assignments():
    weight = tf.Variable(1.0)

    def step(y, n):
        before = weight.read_value()
        weight.assign_add(tf.cast(n, tf.float32))
        return y * weight + before

    x = tf.constant(0.5)
    results = []
    for run in (partial(define_repeat(step), 3), partial(unroll, step, 3)):
        weight.assign(1.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x)
        results.append([y, tape.gradient(y, x), weight.read_value()])
    for found, expected in zip(*results, strict=True):
        assert_close(found, expected)


# --- Keras's BatchNormalization, which has both


@pytest.fixture
def normalization():
    layer = tf.keras.layers.BatchNormalization()
    layer.build([None, 2])
    layer.moving_mean.assign([0.5, -1.0])
    layer.moving_variance.assign([2.0, 0.5])
    return layer


BATCH = [[0.5, 1.0], [-1.0, 3.0], [2.0, 0.0]]


@feature("Keras `BatchNormalization` in inference", gradients=True)
def test_batch_normalization_in_inference(normalization):
    def step(y, n):
        return tf.sin(normalization(y, training=False)) * tf.cast(n, tf.float32)

    check_call(step, BATCH, *normalization.trainable_variables)


@feature(
    "Keras `BatchNormalization` in training, which updates its averages",
    gradients=True,
    refused="BatchNormalization updates its averages, each activation after the other",
)
def test_batch_normalization_in_training(normalization):
    def step(y, n):
        return tf.sin(normalization(y, training=True)) * tf.cast(n, tf.float32)

    averages = normalization.non_trainable_variables
    before = [v.numpy() for v in averages]
    x = tf.constant(BATCH)
    results = []
    repeat = define_repeat(step, shape=[3, 2])
    for run in (partial(repeat, 3), partial(unroll, step, 3)):
        for variable, value in zip(averages, before, strict=True):
            variable.assign(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x)
        gradients = tape.gradient(y, [x, *normalization.trainable_variables])
        results.append([y, *gradients, *map(tf.convert_to_tensor, averages)])
    for found, expected in zip(*results, strict=True):
        assert_close(found, expected)


# --- Prints and assertions


@feature("`tf.print`, batched in another order")
def test_prints(tmp_path):
    path = tmp_path / "log"
    print_it = partial(tf.print, output_stream=f"file://{path}")
    visit = define_visits(print_it)
    assert int(visit(4)) == len(visits(4))
    lines = list(map(int, path.read_text().split()))
    assert sorted(lines) == sorted(visits(4))
    if rtf.explain(visit).executor == "dataflow":
        assert lines == visits(4)


@feature("`tf.debugging.assert_*`, with the invocation path in the error")
def test_assertions():
    walk = define_walk(fails_at=11)
    failure = failure_of(lambda: walk(1))
    assert failure.startswith(
        "SubGraph 'walk' failed at walk → call#0 → call#1 → call#1:"
    )
    assert "a bad node" in failure
    assert int(define_walk(fails_at=16)(1)) == 8


# --- Tables


@feature("`tf.lookup.StaticHashTable`", gradients=True)
def test_static_tables():
    keys, values = tf.constant([1, 3], tf.int32), tf.constant([10.0, 30.0])
    initializer = tf.lookup.KeyValueTensorInitializer(keys, values)
    table = tf.lookup.StaticHashTable(initializer, default_value=-1.0)
    check_rows(lambda y, n: tf.sin(y) + table.lookup(n), ROWS)


@feature("Keras `StringLookup`")
def test_string_lookups():
    words = tf.constant(["a", "b", "c", "a"])
    index_of = tf.keras.layers.StringLookup(vocabulary=["a", "b"])
    step = lambda y, n: 3 * y + index_of(tf.gather(words, n))  # noqa: E731
    check_rows(step, tf.constant([0, 1, 2], tf.int64))


@feature(
    "`tf.lookup.experimental.MutableHashTable` that bodies change",
    refused=f"LookupTableInsertV2 … {EFFECT}",
)
def test_mutable_tables():
    table = tf.lookup.experimental.MutableHashTable(tf.int32, tf.int32, -1)
    assert int(define_visits(lambda n: table.insert(n, n * n))(4)) == len(visits(4))
    assert sorted(table.export()[1].numpy().tolist()) == [1, 4, 9, 16]


# --- Python


def doubled(y):
    return np.float32(2 * y + 1)


@feature("`tf.numpy_function`", refused=f"PyFunc … {EFFECT}")
def test_numpy_functions():
    def step(y, n):
        found = tf.numpy_function(doubled, [y + tf.cast(n, tf.float32)], tf.float32)
        return tf.ensure_shape(found, [])

    found = define_repeat(step).map([3, 0, 2], ROWS)
    pairs = zip([3, 0, 2], map(tf.constant, ROWS), strict=True)
    assert_close(found, tf.stack([unroll(step, n, x) for n, x in pairs]))


@feature("`tf.py_function`", gradients=True, refused=f"EagerPyFunc … {EFFECT}")
def test_python_functions():
    def step(y, n):
        found = tf.py_function(
            lambda y: tf.sin(y), [y * tf.cast(n, y.dtype)], tf.float32
        )
        return tf.ensure_shape(found, [])

    # An effect for all that is known: it does not run once more.
    check_rows(step, ROWS, order=1)


@pytest.mark.falls_back("a Python function")
def test_python_functions_of_several_tensors_in_loops():
    def scaled(y, z, unused):
        del unused
        return tf.cast(y, tf.int32), y * z

    def step(y, n):
        def turn(i, y):
            whole, y = tf.py_function(
                scaled, [y, 0.5 + y, 2.0 * y], [tf.int32, tf.float32]
            )
            y += tf.cast(tf.ensure_shape(whole, []), y.dtype)
            return i + 1, tf.ensure_shape(y, [])

        return tf.while_loop(lambda i, _: i < 3 + n % 2, turn, (1, y))[1]

    check_rows(step, ROWS, order=1)
