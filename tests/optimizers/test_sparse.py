"""Optimizers of touched rows: what Keras's own give for the sum of all slices."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from recursive_tf.optimizers import LazyAdam, SparseAdagrad
from tests.helpers.close import assert_all_close

ROWS, SIZE = 6, 3
PAIRS = {
    "adagrad": (SparseAdagrad, keras.optimizers.Adagrad),
    "adam": (LazyAdam, keras.optimizers.Adam),
}
pairs = pytest.mark.parametrize(("ours", "theirs"), PAIRS.values(), ids=PAIRS)
each = pytest.mark.parametrize("ours", [SparseAdagrad, LazyAdam])


def new_variables(dtype="float32"):
    rng = np.random.default_rng(0)
    return [
        keras.Variable(rng.normal(size=s), dtype=dtype, name=name)
        for name, s in {"table": [ROWS, SIZE], "weights": [SIZE, 2]}.items()
    ]


def slices(indices, seed, dtype="float32"):
    """Returns slices of gradients at some rows, also several of one."""
    values = np.random.default_rng(seed).normal(size=[len(indices), SIZE])
    return tf.IndexedSlices(
        tf.constant(values, dtype), tf.constant(indices), tf.constant([ROWS, SIZE])
    )


def steps(indices, dtype="float32", number=4):
    """Yields gradients of both variables."""
    for step in range(number):
        dense = np.random.default_rng(100 + step).normal(size=[SIZE, 2])
        yield slices(indices, step, dtype), tf.constant(dense, dtype)


def updated(optimizer, gradients, dtype="float32", dense=False):
    """Returns both variables after some steps."""
    variables = new_variables(dtype)

    @tf.function
    def step(*gradients):
        optimizer.apply(list(gradients), variables)

    optimizer.build(variables)
    for table, weights in gradients:
        step(tf.convert_to_tensor(table) if dense else table, weights)
    return [tf.cast(variable.value, tf.float64).numpy() for variable in variables]


def assert_same(found, expected, tolerance=1e-5):
    """TensorFlow's Adam and Keras's round 1 - beta in other ways."""
    assert_all_close(found, expected, rtol=tolerance, atol=tolerance)


ALL_ROWS = [0, 3, 1, 2, 5, 4, 3, 0]


@pairs
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_where_all_rows_are_looked_up_it_is_keras(ours, theirs, dtype):
    expected = updated(theirs(0.1), steps(ALL_ROWS, dtype), dtype, dense=True)
    found = updated(ours(0.1), steps(ALL_ROWS, dtype), dtype)
    assert_same(found, expected)


@pairs
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("number", [1, 2])
def test_a_function_that_trains_tables_alone(ours, theirs, dtype, number):
    """With one table or several, of which a step looks up rows several times."""

    def trained(optimizer, dense):
        tables = [new_variables(dtype)[0] for _ in range(number)]
        optimizer.build(tables)

        @tf.function
        def step(*gradients):
            optimizer.apply(list(gradients), tables)

        for seed in range(3):
            found = [slices(ALL_ROWS, seed + 10 * i, dtype) for i in range(number)]
            step(*(map(tf.convert_to_tensor, found) if dense else found))
        return [table.numpy() for table in tables]

    found, expected = trained(ours(0.1), False), trained(theirs(0.1), True)
    assert_same(found, expected)


@pairs
def test_gradients_that_are_dense(ours, theirs):
    expected = updated(theirs(0.1), steps([1, 1]), dense=True)
    assert_same(updated(ours(0.1), steps([1, 1]), dense=True), expected)


@pairs
def test_a_large_epsilon_is_added_where_keras_adds_it(ours, theirs):
    expected = updated(theirs(0.1, epsilon=0.5), steps(ALL_ROWS), dense=True)
    assert_same(updated(ours(0.1, epsilon=0.5), steps(ALL_ROWS)), expected)


@each
def test_other_rows_stay(ours):
    before = new_variables()[0].numpy()
    table, _ = updated(ours(0.1), steps([4, 1, 4]))
    changed = np.any(table != before, axis=1)
    assert changed.tolist() == [False, True, False, False, True, False]


def test_adagrad_of_some_rows_is_keras():
    expected = updated(keras.optimizers.Adagrad(0.1), steps([4, 1, 4]), dense=True)
    assert_same(updated(SparseAdagrad(0.1), steps([4, 1, 4])), expected)


def test_adam_of_a_row_does_not_fade_while_nobody_looks():
    """Of row 1 it is as if there were no steps but those in which it is looked up."""

    class CountsAll(LazyAdam):
        """The number of a step is that of the row's own steps."""

        count = 0

        @property
        def iterations(self):
            return tf.constant(self.count)

    optimizer, own = LazyAdam(0.1), CountsAll(0.1)
    variable, other = new_variables()[0], new_variables()[0]
    optimizer.build([variable])
    own.build([other])
    for step in range(6):
        optimizer.apply([slices([1] if step % 2 else [2], step)], [variable])
        if step % 2:
            own.count = step
            own.apply([slices([1], step)], [other])
    np.testing.assert_allclose(variable.numpy()[1], other.numpy()[1], rtol=1e-6)


clips = pytest.mark.parametrize("clip", ["clipnorm", "global_clipnorm", "clipvalue"])


@pairs
@clips
def test_clipping_is_by_the_sum_of_slices(ours, theirs, clip):
    expected = updated(theirs(0.1, **{clip: 0.3}), steps(ALL_ROWS), dense=True)
    assert_same(updated(ours(0.1, **{clip: 0.3}), steps(ALL_ROWS)), expected)


@clips
@pytest.mark.parametrize("bound", [0.3, 1e3])
def test_clipped_adagrad_of_some_rows_is_keras(clip, bound):
    """Rows that no step looks up are zeros of the norm."""
    option = {clip: bound}
    theirs = keras.optimizers.Adagrad(0.1, **option)
    expected = updated(theirs, steps([4, 1, 4]), dense=True)
    assert_same(updated(SparseAdagrad(0.1, **option), steps([4, 1, 4])), expected)


@each
@clips
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_clipping_leaves_rows_that_a_step_does_not_look_up(ours, clip, dtype):
    """Also those that have moments, since an earlier step looked them up."""
    variables = new_variables(dtype)
    optimizer = ours(0.1, **{clip: 0.3})
    tables = []
    for table, weights in [*steps([4, 1, 4], dtype, 1), *steps([0, 1, 1], dtype, 1)]:
        optimizer.apply([table, weights], variables)
        tables.append(tf.cast(variables[0].value, tf.float32).numpy())
    changed = np.any(tables[1] != tables[0], axis=1)
    assert changed.tolist() == [True, True, False, False, False, False]


@each
def test_clipping_a_step_that_looks_up_nothing(ours):
    variables = new_variables()
    before = [variable.numpy() for variable in variables]
    weights = tf.zeros([SIZE, 2])
    none = tf.IndexedSlices(tf.zeros([0, SIZE]), tf.zeros([0], tf.int32), [ROWS, SIZE])
    ours(0.1, global_clipnorm=0.3).apply([none, weights], variables)
    for variable, start in zip(variables, before, strict=True):
        np.testing.assert_array_equal(variable.numpy(), start)


@pairs
@pytest.mark.parametrize(
    "option",
    [
        {"weight_decay": 0.1},
        {"gradient_accumulation_steps": 2},
        {"use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2},
        {"loss_scale_factor": 8.0},
    ],
    ids=lambda option: next(iter(option)),
)
def test_what_all_keras_optimizers_can(ours, theirs, option):
    expected = updated(theirs(0.1, **option), steps(ALL_ROWS), dense=True)
    assert_same(updated(ours(0.1, **option), steps(ALL_ROWS)), expected)


@pairs
def test_a_schedule(ours, theirs):
    schedule = keras.optimizers.schedules.ExponentialDecay(0.2, 1, 0.5)
    expected = updated(theirs(schedule), steps(ALL_ROWS), dense=True)
    assert_same(updated(ours(schedule), steps(ALL_ROWS)), expected)


@each
def test_factors_of_the_learning_rate(ours):
    one = updated(ours(0.2), steps([0, 1], number=1))
    both = updated(ours(0.1, rate_factors={"^tab": 2.0}), steps([0, 1], number=1))
    np.testing.assert_allclose(both[0], one[0], rtol=1e-6)
    slow = updated(ours(0.1), steps([0, 1], number=1))
    np.testing.assert_allclose(both[1], slow[1], rtol=1e-6)
    frozen = updated(ours(0.1, rate_factors={"table": 0.0}), steps([0, 1]))
    np.testing.assert_array_equal(frozen[0], new_variables()[0].numpy())


@each
def test_a_factor_of_nothing_is_an_error(ours):
    with pytest.raises(ValueError, match=r"'embeding', which.*table, weights"):
        ours(rate_factors={"embeding": 2.0}).build(new_variables())


@each
def test_two_factors_of_one_variable_are_an_error(ours):
    optimizer = ours(rate_factors={"tab": 2.0, "able": 3.0})
    with pytest.raises(ValueError, match=r"'tab' and 'able', and both.*'table'"):
        optimizer.build(new_variables())


@each
def test_plain_variables_of_tensorflow(ours):
    start = np.ones([ROWS, SIZE], "float32")
    plain, of_keras = tf.Variable(start), keras.Variable(start)
    for variable in (plain, of_keras):
        optimizer = ours(0.1)
        optimizer.apply([slices([2, 2, 0], 0)], [variable])
    assert_same(plain.numpy(), of_keras.numpy())


@each
def test_it_is_made_again_of_its_config(ours):
    optimizer = ours(0.3, epsilon=0.1, rate_factors={"a": 2.0}, clipnorm=1.0)
    copy = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert type(copy) is ours
    assert copy.get_config() == optimizer.get_config()


def test_half_precision():
    found = updated(SparseAdagrad(0.1), steps(ALL_ROWS, "bfloat16"), "bfloat16")
    expected = updated(SparseAdagrad(0.1), steps(ALL_ROWS))
    assert_same(found, expected, 0.1)
