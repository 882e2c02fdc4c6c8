"""Gradients of lookups: a slice for each row, however often it was looked up."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.ops import library
from tests.helpers.close import assert_all_close

pytestmark = pytest.mark.every_executor

NODES = tf.constant([3, 1, 3, 3, 0, 1])
FACTORS = tf.reshape(tf.range(12.0), [6, 2])


@pytest.fixture
def words():
    return tf.Variable(np.random.default_rng(0).normal(size=(5, 2)), dtype=tf.float32)


def define(words, index=tf.int32):
    with rtf.SubGraph("f") as f:
        node = f.input(tf.TensorSpec([], index))
        f.output(tf.tanh(tf.gather(words, node)))
    return f


def gradient_of(loss, words):
    """Returns the gradient within a function: calls from outside make it dense."""

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            value = loss()
        return tape.gradient(value, words)

    return step()


@pytest.mark.parametrize("index", [tf.int32, tf.int64])
def test_each_row_has_one_slice(words, index):
    f = define(words, index)
    found = gradient_of(
        lambda: tf.reduce_sum(f.map(tf.cast(NODES, index)) * FACTORS), words
    )
    assert sorted(found.indices.numpy()) == [0, 1, 3]
    expected = gradient_of(
        lambda: tf.reduce_sum(tf.tanh(tf.gather(words, NODES)) * FACTORS), words
    )
    assert_all_close(tf.convert_to_tensor(found), tf.convert_to_tensor(expected))


def test_lookups_of_several_places_are_one_gradient(words):
    with rtf.SubGraph("f", output_signature=tf.TensorSpec([2])) as f:
        node = f.input(tf.int32)
        once = tf.gather(words, node)
        more = lambda: tf.gather(words, node - 1) * f(node - 1)  # noqa: E731
        f.output(once + tf.cond(node > 0, more, lambda: tf.gather(words, 4)))
    found = gradient_of(lambda: tf.reduce_sum(f.map([3, 2])), words)
    assert sorted(found.indices.numpy()) == [0, 1, 2, 3, 4]


def test_a_variable_whose_number_of_rows_is_not_known_has_slices():
    words = tf.Variable(tf.ones([5, 2]), shape=[None, 2])
    f = define(words)
    found = gradient_of(lambda: tf.reduce_sum(f.map(NODES)), words)
    assert found.dense_shape.numpy().tolist() == [5, 2]
    assert sorted(found.indices.numpy()) == [0, 1, 3]


def test_an_optimizer_that_squares_slices_squares_sums(words):
    """One of Keras's: it does not add up the slices of a row itself."""
    table = keras.Variable(words.numpy())
    optimizer = keras.optimizers.Adagrad(0.1, initial_accumulator_value=0.0)
    optimizer.build([table])
    f = define(table.value)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(f.map([1, 1, 1]))
        optimizer.apply_gradients([(tape.gradient(loss, table.value), table)])

    step()
    (accumulator,) = optimizer.variables[2:]
    slope = 3 * (1 - tf.tanh(words[1]) ** 2)
    assert_all_close(accumulator[1], slope**2)


@pytest.mark.traces_only
def test_slices_without_rows_stay_without():
    values, indices = library.recursive_add_up_slices(
        values=tf.zeros([0, 2]), indices=tf.zeros([0], tf.int32)
    )
    assert values.shape == [0, 2]
    assert indices.shape == [0]


@pytest.mark.traces_only
@pytest.mark.parametrize("values", [tf.zeros([3, 2]), tf.zeros([]), tf.constant(["a"])])
def test_slices_that_do_not_fit_are_refused(values):
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not fit indices"):
        library.recursive_add_up_slices(values=values, indices=tf.zeros([2], tf.int64))
