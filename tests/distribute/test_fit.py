"""What Keras's `fit` is told before it takes forests under a strategy."""

import contextlib

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf


class Unbuilt(keras.Model):
    """A model whose layer has no variables yet."""

    def __init__(self):
        super().__init__()
        self.late = keras.layers.Dense(2, name="late")

    def call(self, x):
        return self.late(x)


def test_a_layer_without_variables_is_named():
    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        model = Unbuilt()
    with pytest.raises(ValueError, match=r"late.*in the scope of the strategy"):
        rtf.distribute.enable_fit(model)


def test_a_model_of_no_strategy_stays_as_it_is():
    model = Unbuilt()
    names = set(vars(model))
    assert rtf.distribute.enable_fit(model) is model
    assert set(vars(model)) == names


def test_a_sum_of_forests_says_what_to_do():
    trees = rtf.data.generate("random", 2)
    with pytest.raises(rtf.data.ForestError, match=r"rtf\.distribute.enable_fit"):
        tf.add_n([trees, trees])


def test_parameter_servers_have_no_fit():
    """Without a cluster: the strategy is made when there are servers."""
    strategy = object.__new__(tf.distribute.experimental.ParameterServerStrategy)
    model = Unbuilt()
    model._distribute_strategy = strategy
    with pytest.raises(ValueError, match="ClusterCoordinator"):
        rtf.distribute.enable_fit(model)
    batches = rtf.data.batches(rtf.data.generate("random", 2), 1)
    with pytest.raises(rtf.data.ForestError, match=r"coordinator\.schedule"):
        rtf.distribute.shards(batches, strategy)


def losses_of_shuffled_fit(strategy):
    """Returns the loss of each epoch, from the same weights and seed of the order."""
    keras.utils.set_random_seed(3)
    with contextlib.nullcontext() if strategy is None else strategy.scope():
        forest = rtf.layers.ForestInput()
        words = keras.layers.Embedding(1000, 4)
        encoder = rtf.layers.TreeEncoder(rtf.layers.TreeLSTMCell(5), words)
        model = keras.Model(forest, keras.layers.Dense(1)(encoder(forest)))
        model.compile("sgd", "mse", metrics=["mae"])
    trees = rtf.data.generate("random", 40)
    batches = rtf.data.batches(trees, 8, shuffle=True, seed=5).map(
        lambda forest: (forest, tf.cast(forest.sizes, tf.float32)[:, tf.newaxis])
    )
    if strategy is not None:
        rtf.distribute.enable_fit(model)
        batches = rtf.distribute.shards(batches, strategy)
    history = model.fit(batches, epochs=2, shuffle=False, verbose=0).history
    return [*history["loss"], *history["mae"]]


@pytest.mark.slow
def test_a_strategy_shuffles_as_none_does():
    found = losses_of_shuffled_fit(tf.distribute.MirroredStrategy(["CPU:0"]))
    np.testing.assert_allclose(found, losses_of_shuffled_fit(None), rtol=1e-5)
