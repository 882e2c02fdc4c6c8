"""Keras traces a layer again and again: what is compiled of it is compiled once."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf


@pytest.fixture(scope="module")
def trees():
    return rtf.data.from_nested([[1, [2, 3]], [4, 5], [[1, 4], [2, 5]]])


def make_model():
    keras.utils.set_random_seed(1)
    forest = rtf.layers.ForestInput()
    words = keras.layers.Embedding(10, 4)
    encoder = rtf.layers.TreeEncoder(rtf.layers.TreeLSTMCell(3), words)
    model = keras.Model(forest, keras.layers.Dense(2)(encoder(forest)))
    model.compile("sgd", "mse")
    return model


def data_of(trees, size):
    batch = trees[:size].replace(labels=None)
    pairs = [(batch, tf.ones([size, 2]))]
    specs = (tf.type_spec_from_value(batch), tf.TensorSpec([size, 2]))
    data = tf.data.Dataset.from_generator(lambda: iter(pairs), output_signature=specs)
    return data.apply(tf.data.experimental.assert_cardinality(1))


def trees_of(data):
    return data.map(lambda forest, _: forest)


def test_what_keras_does_with_a_model_compiles_one_program(trees, known):
    model = make_model()
    before = known.counts().added
    for size in (2, 3):
        model.fit(data_of(trees, size), verbose=0, shuffle=False)
    model.evaluate(data_of(trees, 3), verbose=0)
    model.predict(trees_of(data_of(trees, 3)), verbose=0)
    counts = known.counts()
    assert counts.added - before == 1
    assert counts.found >= 3


@pytest.mark.parametrize("again", [make_model, "clone"])
def test_a_model_that_is_made_again_has_weights_of_its_own(again, trees, known):
    first = make_model()
    first.fit(data_of(trees, 3), verbose=0, shuffle=False)
    added = known.counts().added
    if again == "clone":
        second = keras.models.clone_model(first)
        second.set_weights(make_model().get_weights())
        second.compile("sgd", "mse")
    else:
        second = again()
    before = first.get_weights()
    second.fit(data_of(trees, 3), verbose=0, shuffle=False)
    assert known.counts().added == added
    for one, other, old in zip(
        first.get_weights(), second.get_weights(), before, strict=True
    ):
        np.testing.assert_array_equal(one, old)
        np.testing.assert_allclose(other, one, rtol=1e-6)


def test_another_size_is_another_program(trees, known):
    added = []
    for units in (3, 4):
        words = keras.layers.Embedding(10, 4)
        encoder = rtf.layers.TreeEncoder(rtf.layers.TreeLSTMCell(units), words)
        assert encoder(trees).shape == (3, units)
        added.append(known.counts().added)
    assert added[1] > added[0]
