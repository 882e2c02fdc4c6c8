"""A loss that a layer adds in a body is refused; of weights, and outside, it counts."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of

UNITS = 4


def trees():
    return rtf.data.from_nested([[1, [2, 3]], [4, 5]])


def words(**choices):
    return keras.layers.Embedding(10, UNITS, **choices)


class AddsLoss(keras.layers.Layer):
    def leaf(self, x):
        return x

    def call(self, children, x):
        self.add_loss(tf.reduce_sum(children[0]))
        return children[0] + children[1]


class AddsLossAtLeaves(AddsLoss):
    def leaf(self, x):
        self.add_loss(tf.reduce_sum(x))
        return x

    def call(self, children, x):
        return children[0] + children[1]


class AddsLossOfItsOutput(AddsLossAtLeaves):
    def leaf(self, x):
        return x

    def output_of(self, state):
        self.add_loss(tf.reduce_sum(state))
        return state


class OfPerNode(keras.layers.Layer):
    def __init__(self, regularizers):
        super().__init__()
        self.mix = rtf.layers.PerNode(
            keras.layers.Dense(UNITS, name="mixing", **regularizers)
        )

    def build(self, x_shape):
        self.mix.build(x_shape)

    def leaf(self, x):
        return self.mix(x)

    def call(self, children, x):
        return self.mix(children[0] + children[1])


@pytest.mark.traces_only
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: AddsLoss(name="own"), "own"),
        (lambda: AddsLossAtLeaves(name="own"), "own"),
        (lambda: AddsLossOfItsOutput(name="own"), "own"),
        (
            lambda: rtf.layers.TreeLSTMCell(
                UNITS, activity_regularizer="l2", name="regular"
            ),
            "regular",
        ),
        (lambda: OfPerNode({"activity_regularizer": "l2"}), "mixing"),
    ],
)
def test_a_loss_of_a_cell_is_refused_with_the_way_out(make, name):
    encoder = rtf.layers.TreeEncoder(make(), words())
    message = message_of(lambda: encoder(trees()), ValueError)
    assert f"{name} adds a loss in a recursion" in message
    assert "return_nodes=True, and add the loss outside" in message


@pytest.mark.traces_only
def test_a_loss_of_an_embedding_is_refused():
    encoder = rtf.layers.TreeEncoder(
        rtf.layers.TreeLSTMCell(UNITS), words(activity_regularizer="l2", name="table")
    )
    message = message_of(lambda: encoder(trees()), ValueError)
    assert "table adds a loss in a recursion" in message


@pytest.mark.traces_only
def test_a_loss_of_a_cell_along_sequences_is_refused():
    cell = keras.layers.LSTMCell(UNITS, activity_regularizer="l2", name="regular")
    encoder = rtf.layers.SequenceEncoder(cell)
    message = message_of(lambda: encoder(tf.ones([1, 2, 3])), ValueError)
    assert "regular adds a loss in a recursion" in message


@pytest.mark.traces_only
def test_a_loss_of_a_layer_in_any_body_is_refused():
    layer = rtf.layers.PerNode(keras.layers.ActivityRegularization(l2=0.1, name="last"))

    def define():
        with rtf.SubGraph("once") as once:
            once.output(layer(once.input(tf.float32, [2])))

    message = message_of(define, ValueError)
    assert "last adds a loss in a recursion" in message


def test_a_loss_of_a_layer_outside_of_bodies_counts():
    layer = rtf.layers.PerNode(keras.layers.ActivityRegularization(l2=0.5))

    @tf.function
    def run(x):
        layer(x)
        return layer.losses[0]

    assert run(tf.constant([1.0, 2.0])) == 2.5
    layer(tf.constant([2.0]))
    assert layer.losses == [2.0]


def losses_of(cell, *, regular=None):
    """Returns the loss of a model that is asked for what it says; and what it says."""
    forest = rtf.layers.ForestInput()
    nodes = rtf.layers.TreeEncoder(cell, words(), return_nodes=True)(forest)
    if regular is not None:
        nodes = regular(nodes)
    model = keras.Model(forest, nodes)
    model.compile("sgd", "mse")
    targets = model(trees())
    batches = tf.data.Dataset.from_tensors((trees(), targets))
    found = model.evaluate(batches, verbose=0)
    history = model.fit(batches, shuffle=False, verbose=0).history
    assert np.isfinite(history["loss"][0])
    return found, targets


@pytest.mark.parametrize(
    "make",
    [
        lambda: rtf.layers.TreeLSTMCell(UNITS, kernel_regularizer="l2"),
        lambda: OfPerNode({"kernel_regularizer": "l2"}),
    ],
)
def test_a_loss_of_weights_counts(make):
    cell = make()
    found, _ = losses_of(cell)
    assert found > 0


def test_the_way_out_trains():
    regular = keras.layers.ActivityRegularization(l2=0.5)
    found, nodes = losses_of(rtf.layers.TreeLSTMCell(UNITS), regular=regular)
    expected = 0.5 * np.sum(np.square(nodes)) / len(nodes)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
