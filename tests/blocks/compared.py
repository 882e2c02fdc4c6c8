"""Models that run with block programs, with TensorFlow's kernels, or call by call."""

import keras
import numpy as np
import tensorflow as tf

import recursive_tf as rtf

WORDS = 30
# How a model may run: the choices of its encoder.
COMPILED = {"executor": "batched", "options": rtf.Options(blocks="compiled")}
TENSORFLOW = {"executor": "batched", "options": rtf.Options(blocks="tensorflow")}
DATAFLOW = {"executor": "dataflow"}


class NormalizedCell(keras.layers.Layer):
    """A user's cell: each node's state is normalized, scaled and shifted."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, x_shape):
        shape = [2 * self.units, self.units]
        self.kernel = self.add_weight(shape=shape, name="kernel")
        self.scale = self.add_weight(shape=[self.units], name="scale")
        self.shift = self.add_weight(shape=[self.units], name="shift")

    def leaf(self, x):
        return tf.tanh(x)

    def call(self, children, x=None):
        z = tf.matmul(tf.concat(children, 0)[None], self.kernel)[0]
        mean = tf.reduce_mean(z)
        variance = tf.reduce_mean(tf.math.squared_difference(z, mean))
        z = (z - mean) * tf.math.rsqrt(variance + 1e-3)
        return tf.tanh(self.scale * z + self.shift)


CELLS = {
    "TreeLSTM": rtf.layers.TreeLSTMCell,
    "RNTN": rtf.layers.RNTNCell,
    "ChildSum": rtf.layers.ChildSumTreeLSTMCell,
    "GRU": rtf.layers.TreeGRUCell,
    "normalized": NormalizedCell,
}


def forest_of(name, num_trees, largest=8, seed=0):
    """Returns trees for a cell, of at most so many leaves, of all shapes."""
    random = np.random.default_rng(seed)

    def tree(size):
        if size == 1:
            return int(random.integers(0, WORDS))
        left = int(random.integers(1, size))
        return [tree(left), tree(size - left)]

    nested = [tree(int(random.integers(1, largest + 1))) for _ in range(num_trees)]
    forest = rtf.data.from_nested(nested, binary=name != "ChildSum")
    # Inner nodes of some have a word, too.
    tokens = random.integers(0, WORDS, size=int(forest.num_nodes))
    return forest.replace(tokens=tokens.astype(np.int32))


def encoder_of(name, units, choice, dtype="float32"):
    """Returns an encoder with weights that depend on nothing but these arguments."""
    keras.utils.set_random_seed(0)
    cell = CELLS[name](units, dtype=dtype)
    words = keras.layers.Embedding(WORDS, units, dtype=dtype)
    encoder = rtf.layers.TreeEncoder(cell, words, dtype=dtype, **choice)
    encoder(forest_of(name, 1))
    random = np.random.default_rng(1)
    encoder.set_weights(
        [
            random.normal(size=w.shape, scale=w.shape[-1] ** -0.5)
            for w in encoder.get_weights()
        ]
    )
    return encoder


def rows_and_gradient(body, rows, blocks):
    """Returns a body's rows and their gradient; all of it is compiled if it may be."""
    with rtf.SubGraph("f", executor="batched", options=rtf.Options(blocks=blocks)) as f:
        f.output(body(f.input(tf.TensorSpec(rows.shape[1:], rows.dtype))))
    explanation = rtf.explain(f)
    with tf.GradientTape() as tape:
        tape.watch(rows)
        value = f.map(rows)
    gradient = tape.gradient(value, rows)
    if blocks == "compiled":
        assert explanation.not_compiled == {}
    return [value, gradient]


def values_and_gradients(encoder, forest):
    """Returns the states of the roots, and the gradients by all weights, dense."""
    variables = encoder.trainable_variables
    with tf.GradientTape() as tape:
        h = encoder(forest, training=True)
        loss = tf.reduce_sum(tf.sin(3.0 * h))
    gradients = tape.gradient(loss, [v.value for v in variables])
    return h.numpy(), [tf.convert_to_tensor(g).numpy() for g in gradients]


def assert_equal(found, expected, rtol=1e-5, gradient_rtol=1e-4):
    """Checks values and gradients; what is small beside the largest may be off more."""
    (h, gradients), (expected_h, expected_gradients) = found, expected
    _assert_near(h, expected_h, rtol)
    for one, other in zip(gradients, expected_gradients, strict=True):
        _assert_near(one, other, gradient_rtol)


def _assert_near(found, expected, rtol):
    assert np.any(expected)
    atol = rtol * np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)
