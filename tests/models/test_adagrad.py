"""Our AdaGrad is Keras's, but for the rows that it does not touch."""

import numpy as np
import tensorflow as tf

from models.adagrad import Adagrad, sum_duplicates

RNG = np.random.default_rng(0)
START = RNG.normal(size=[4, 3]).astype(np.float32)
GRADIENTS = RNG.normal(size=[5, 4, 3]).astype(np.float32)


def train_with_keras(gradients):
    variable = tf.Variable(START)
    optimizer = tf.keras.optimizers.Adagrad(0.1)
    for gradient in gradients:
        optimizer.apply_gradients([(tf.constant(gradient), variable)])
    return variable.numpy()


def train(gradients):
    variable = tf.Variable(START)
    optimizer = Adagrad([variable], 0.1)
    for gradient in gradients:
        optimizer.apply([gradient])
    return variable.numpy()


def test_dense_steps_equal_keras():
    np.testing.assert_allclose(
        train(map(tf.constant, GRADIENTS)), train_with_keras(GRADIENTS), rtol=1e-5
    )


def test_sparse_steps_on_all_rows_equal_keras():
    order = [2, 0, 3, 1]
    slices = [tf.IndexedSlices(g[order], tf.constant(order)) for g in GRADIENTS]
    np.testing.assert_allclose(train(slices), train_with_keras(GRADIENTS), rtol=1e-5)


def test_a_row_that_occurs_twice_is_stepped_once_with_its_sum():
    halves = [
        tf.IndexedSlices(
            np.concatenate([0.25 * g, 0.75 * g]), tf.constant([*range(4)] * 2)
        )
        for g in GRADIENTS
    ]
    np.testing.assert_allclose(train(halves), train_with_keras(GRADIENTS), rtol=1e-5)


def test_other_rows_are_not_touched():
    slices = [tf.IndexedSlices(g[:1], tf.constant([2])) for g in GRADIENTS]
    np.testing.assert_array_equal(train(slices)[[0, 1, 3]], START[[0, 1, 3]])


def test_sum_duplicates_adds_rows_of_one_index():
    slices = tf.IndexedSlices(
        tf.constant([[1.0], [2.0], [4.0]]), tf.constant([5, 3, 5])
    )
    indices, rows = sum_duplicates(slices)
    np.testing.assert_array_equal(indices, [5, 3])
    np.testing.assert_array_equal(rows, [[5.0], [2.0]])
