"""Keras 3 trains, evaluates, predicts and saves models that are called with forests."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.data.examples import integers

pytestmark = pytest.mark.slow


class Classifier(keras.Model):
    """A label for each tree."""

    def __init__(self):
        super().__init__()
        self.embed = keras.layers.Embedding(20, 4)
        self.join = keras.layers.Dense(4, activation="tanh")
        self.classify = keras.layers.Dense(2)
        self.num_calls = 0

    def call(self, forest):
        self.num_calls += 1
        with rtf.SubGraph("encode") as encode:
            node = encode.input(tf.int32)

            def internal():
                left, right = (
                    tf.gather(forest.left, node),
                    tf.gather(forest.right, node),
                )
                both = tf.concat([encode(left), encode(right)], 0)
                return self.join(both[tf.newaxis])[0]

            is_leaf = tf.gather(forest.left, node) < 0
            leaf = tf.gather(forest.tokens, node)
            encode.output(tf.cond(is_leaf, lambda: self.embed(leaf), internal))
        return self.classify(encode.map(forest.roots))


def examples(batch_size=2):
    """Returns a dataset of trees and whether they are large."""
    trees = integers()
    large = tf.cast(trees.sizes > 4, tf.int32)
    return tf.data.Dataset.from_tensor_slices((trees, large)).batch(batch_size)


def compiled(model, **choices):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = keras.optimizers.Adam(0.1)
    model.compile(optimizer, loss, metrics=["accuracy"], **choices)
    return model


@pytest.fixture(scope="module")
def trained():
    keras.utils.set_random_seed(0)
    model = compiled(Classifier())
    model.fit(examples(), epochs=15, verbose=0, shuffle=False)
    return model


def test_fit_learns_and_evaluate_counts_trees(trained):
    loss, accuracy = trained.evaluate(examples(), verbose=0)
    assert accuracy == 1
    assert loss < 0.2


def test_the_loss_of_a_batch_weighs_as_many_trees_as_it_has(trained):
    trees, large = next(iter(examples(batch_size=5)))
    loss = trained.evaluate(examples(), verbose=0)[0]
    of_all = keras.losses.sparse_categorical_crossentropy(
        large, trained(trees), from_logits=True
    )
    np.testing.assert_allclose(loss, tf.reduce_mean(of_all), rtol=1e-5)


def test_predict_joins_the_rows_of_batches(trained):
    predicted = trained.predict(examples().map(lambda trees, _: trees), verbose=0)
    np.testing.assert_allclose(predicted, trained(integers()), rtol=1e-4, atol=1e-5)


def test_one_batch_is_trained_and_predicted(trained):
    model = compiled(Classifier())
    model.train_on_batch(integers(), tf.zeros([5], tf.int32))
    assert model.predict_on_batch(integers()).shape == (5, 2)


def test_fit_does_not_trace_again_for_batches_of_another_size():
    model = compiled(Classifier())
    model.fit(examples(), verbose=0, shuffle=False)
    calls = model.num_calls
    model.fit(examples(batch_size=3), verbose=0, shuffle=False)
    assert model.num_calls == calls


def test_a_forest_may_be_one_of_several_inputs():
    class WithBias(keras.Model):
        def __init__(self):
            super().__init__()
            self.trees = Classifier()

        def call(self, inputs):
            return self.trees(inputs["trees"]) + inputs["bias"]

    def add_bias(trees, large):
        return {"trees": trees, "bias": tf.zeros([trees.num_trees, 2])}, large

    model = compiled(WithBias())
    model.fit(examples().map(add_bias), verbose=0, shuffle=False)
    assert len(model.trainable_variables) == 5


def test_weights_are_saved_and_loaded(trained, tmp_path):
    path = str(tmp_path / "model.weights.h5")
    trained.save_weights(path)
    model = Classifier()
    model(integers()[:1])
    model.load_weights(path)
    np.testing.assert_allclose(model(integers()), trained(integers()), rtol=1e-5)


def test_an_export_takes_forests(trained, tmp_path):
    spec = tf.type_spec_from_value(integers())
    archive = keras.export.ExportArchive()
    archive.add_endpoint(
        "serve", tf.function(lambda trees: trained(trees), input_signature=[spec])
    )
    archive.write_out(str(tmp_path / "exported"), verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "exported"))
    np.testing.assert_allclose(
        loaded.serve(integers()[2:]), trained(integers()[2:]), rtol=1e-4, atol=1e-5
    )
