"""One vector of a tree from its nodes: pooled, or by attention."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of

SIZE = 4
MODES = {"mean": np.mean, "max": np.max, "sum": np.sum}


def trees():
    return rtf.data.from_nested([[1, [2, 3]], 4, [[5, 6], [7, 8]]])


def nodes_of(forest, dtype=tf.float64):
    random = np.random.default_rng(0)
    return tf.Variable(random.normal(size=[int(forest.num_nodes), SIZE]), dtype=dtype)


def by_tree(forest, rows):
    return np.split(np.asarray(rows), forest.row_splits.numpy()[1:-1])


@pytest.mark.parametrize("mode", MODES)
def test_pooling_is_of_the_nodes_of_each_tree(mode):
    forest = trees()
    nodes = nodes_of(forest)
    layer = rtf.layers.NodePooling(mode, dtype="float64")
    expected = [MODES[mode](rows, axis=0) for rows in by_tree(forest, nodes)]
    np.testing.assert_allclose(layer(forest, nodes), expected, rtol=1e-12)
    one = layer(forest[0], nodes[: int(forest[0].num_nodes)])
    np.testing.assert_allclose(one, expected[0], rtol=1e-12)
    assert layer(forest[:0], nodes[:0]).shape == (0, SIZE)


def attention_of(forest, nodes):
    layer = rtf.layers.NodeAttention(3, return_attention_scores=True, dtype="float64")
    layer(forest, nodes)
    random = np.random.default_rng(1)
    layer.set_weights([random.normal(size=w.shape) for w in layer.get_weights()])
    return layer


def test_attention_is_the_equations():
    forest = trees()
    nodes = nodes_of(forest)
    layer = attention_of(forest, nodes)
    pooled, scores = layer(forest, nodes)
    kernel, bias, context = layer.get_weights()
    for row, tree, found in zip(
        pooled, by_tree(forest, nodes), by_tree(forest, scores), strict=True
    ):
        weights = np.exp(np.tanh(tree @ kernel + bias) @ context[:, 0])
        weights /= weights.sum()
        np.testing.assert_allclose(found, weights, rtol=1e-9)
        np.testing.assert_allclose(row, weights @ tree, rtol=1e-9)


def test_attention_of_large_scores_is_finite_and_is_the_largest():
    forest = trees()
    nodes = nodes_of(forest)
    layer = attention_of(forest, nodes)
    kernel, bias, context = layer.get_weights()
    layer.set_weights([kernel, bias, context * 1e4])
    _, scores = layer(forest, nodes)
    for found in by_tree(forest, scores):
        np.testing.assert_allclose(sorted(found)[-1], 1, rtol=1e-6)


def test_the_gradient_of_attention_is_the_numerical_one():
    forest = trees()
    nodes = nodes_of(forest)
    layer = attention_of(forest, nodes)

    def loss(x):
        return tf.reduce_sum(layer(forest, x)[0] ** 2)

    theory, numeric = tf.test.compute_gradient(loss, [nodes.value()])
    np.testing.assert_allclose(theory, numeric, rtol=1e-5, atol=1e-6)


LAYERS = [
    lambda **choices: rtf.layers.NodePooling("max", **choices),
    lambda **choices: rtf.layers.NodeAttention(3, **choices),
]


@pytest.mark.parametrize("make", LAYERS)
def test_a_model_that_pools_is_saved_and_loaded(make, tmp_path):
    forest = rtf.layers.ForestInput()
    encoder = rtf.layers.TreeEncoder(
        rtf.layers.TreeLSTMCell(SIZE), keras.layers.Embedding(10, 3), return_nodes=True
    )
    model = keras.Model(forest, make()(forest, encoder(forest)))
    assert model.output_shape == (None, SIZE)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(again(trees()), model(trees()), rtol=1e-6)


@keras.saving.register_keras_serializable("tests")
class Pools(keras.Model):
    def __init__(self, pool, **kwargs):
        super().__init__(**kwargs)
        cell, words = rtf.layers.TreeLSTMCell(SIZE), keras.layers.Embedding(10, 3)
        self.encoder = rtf.layers.TreeEncoder(cell, words, return_nodes=True)
        self.pool = keras.saving.deserialize_keras_object(pool)
        self.classify = keras.layers.Dense(2)

    def call(self, forest):
        return self.classify(self.pool(forest, self.encoder(forest)))

    def get_config(self):
        pool = keras.saving.serialize_keras_object(self.pool)
        return super().get_config() | {"pool": pool}


@pytest.mark.parametrize("make", LAYERS)
def test_a_model_of_a_class_of_its_own_is_loaded_with_all_weights(make, tmp_path):
    model = Pools(keras.saving.serialize_keras_object(make()))
    expected = model(trees())
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(again(trees()), expected)


@pytest.mark.parametrize("make", LAYERS)
def test_what_is_no_forest_is_refused(make):
    nodes = tf.ones([3, SIZE])
    message = message_of(lambda: make(name="pooled")(nodes, nodes), TypeError)
    assert "pooled is called with a recursive_tf.data.Forest, and then" in message


def test_another_mode_is_refused():
    with pytest.raises(ValueError, match=r"mode='median': choose one of"):
        rtf.layers.NodePooling("median")
    with pytest.raises(ValueError, match="units=0"):
        rtf.layers.NodeAttention(0)


@pytest.mark.parametrize("make", LAYERS)
def test_vectors_of_roots_are_refused_with_the_way_out(make):
    forest = trees()
    layer = make(name="pooled")
    message = message_of(lambda: layer(forest, tf.ones([3, SIZE])), ValueError)
    assert "pooled takes a vector of each node" in message
    assert f"of {int(forest.num_nodes)} nodes, and got 3 rows" in message
    assert "return_nodes=True" in message


@pytest.mark.parametrize("make", LAYERS)
def test_vectors_of_roots_are_refused_where_their_number_is_not_known(make):
    forest = rtf.layers.ForestInput()
    encoder = rtf.layers.TreeEncoder(
        rtf.layers.TreeLSTMCell(SIZE), keras.layers.Embedding(10, 3)
    )
    model = keras.Model(forest, make(name="pooled")(forest, encoder(forest)))
    batches = rtf.data.batches(trees(), 2)

    def predict():
        model.predict(batches, verbose=0)

    message = message_of(predict, tf.errors.InvalidArgumentError)
    assert "pooled takes a vector of each node" in message
    assert "return_nodes=True" in message
