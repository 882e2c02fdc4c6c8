"""What Keras's `fit` is told before it takes forests under a strategy."""

import keras
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
