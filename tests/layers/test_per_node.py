"""PerNode: a Keras layer in a body is the layer for a batch of one."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

pytestmark = pytest.mark.slow

executors = pytest.mark.parametrize("executor", ["batched", "dataflow"])


def powers_of(layer, executor, size=3):
    """Returns a SubGraph that applies a layer of a vector n times."""
    spec = tf.TensorSpec([size])
    powers = rtf.SubGraph("powers", executor=executor, output_signature=spec)
    with powers:
        x, n = powers.input(spec), powers.input(tf.int32)
        powers.output(tf.cond(n < 1, lambda: x, lambda: layer(powers(x, n - 1))))
    return powers


@executors
@pytest.mark.parametrize(
    "make",
    [
        lambda: keras.layers.Dense(3, "tanh"),
        lambda: keras.layers.LayerNormalization(),
        lambda: keras.Sequential([keras.layers.Dense(5), keras.layers.Dense(3)]),
        lambda: keras.layers.PReLU(),
    ],
)
def test_a_layer_of_one_argument_is_as_in_a_batch(make, executor):
    layer = make()
    batch = tf.random.stateless_normal([4, 3], [1, 2])
    layer(batch)
    powers = powers_of(rtf.layers.PerNode(layer), executor)
    counts = [0, 1, 3, 2]
    variables = [v.value for v in layer.trainable_variables]
    with tf.GradientTape(persistent=True) as tape:
        found = powers.map(batch, tf.constant(counts))
        rows = []
        for row, count in zip(batch, counts, strict=True):
            x = row[tf.newaxis]
            for _ in range(count):
                x = layer(x)
            rows.append(x[0])
        expected = tf.stack(rows)
        losses = [tf.reduce_sum(y**2) for y in (found, expected)]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    gradients = [tape.gradient(loss, variables) for loss in losses]
    for one, other in zip(*gradients, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@executors
def test_a_layer_of_several_arguments_takes_and_returns_structures(executor):
    cell = keras.layers.LSTMCell(3)
    layer = rtf.layers.PerNode(cell)
    specs = [tf.TensorSpec([3])] * 3
    steps = rtf.SubGraph("steps", executor=executor)
    with steps:
        x, h, c = map(steps.input, specs)
        output, state = layer(x, [h, c])
        steps.output(output, state)
    x, h, c = (tf.random.stateless_normal([4, 3], [1, s]) for s in range(3))
    output, state = steps.map(x, h, c)
    expected, expected_state = cell(x, [h, c])
    np.testing.assert_allclose(output, expected, rtol=1e-5, atol=1e-6)
    for one, other in zip(state, expected_state, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_it_drops_in_training_alone():
    layer = rtf.layers.PerNode(keras.layers.Dropout(0.5, seed=1))
    x = tf.ones([100])
    assert np.all(layer(x, training=False) == 1)
    assert 20 < np.sum(layer(x, training=True) == 0) < 80


@keras.saving.register_keras_serializable("tests.layers")
class MixingCell(keras.layers.Layer):
    """A cell of layers that are made when it is first traced."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.of_leaf = rtf.layers.PerNode(keras.layers.Dense(4))
        self.mix = rtf.layers.PerNode(keras.layers.Dense(4, "tanh"))

    def build(self, x_shape):
        self.of_leaf.build(x_shape)

    def leaf(self, x):
        return self.of_leaf(x)

    def call(self, children, x):
        return self.mix(tf.concat(children, 0))


def test_a_model_with_it_in_a_cell_is_saved_and_loaded(tmp_path):
    encoder = rtf.layers.TreeEncoder(MixingCell(), keras.layers.Embedding(10, 3))
    model = keras.Sequential([rtf.layers.ForestInput(), encoder])
    trees = rtf.data.from_nested([[1, [2, 3]], [4, 5]])
    assert len(model.trainable_variables) == 5
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(again(trees), model(trees), rtol=1e-6)


def test_a_config_makes_the_same_layer_with_the_precision_of_what_it_holds():
    layer = rtf.layers.PerNode(keras.layers.Dense(4, "relu", dtype="float64"))
    again = type(layer).from_config(layer.get_config())
    assert again.layer.get_config() == layer.layer.get_config()
    assert again(tf.ones([3], tf.float64)).dtype == tf.float64
