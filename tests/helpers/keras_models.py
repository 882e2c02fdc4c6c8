"""Keras models with a recursive layer, and the same with a loop in its place."""

import numpy as np
import tensorflow as tf

import recursive_tf as rtf

DEPTHS = np.array([3, 0, 2, 1], np.int32)
X = np.linspace(-1, 1, 12, dtype=np.float32).reshape([4, 3])
Y = np.array([[0.5], [1.0], [-0.5], [0.0]], np.float32)


@tf.keras.utils.register_keras_serializable("tests.language")
class Repeat(tf.keras.layers.Layer):
    """Applies a Dense layer to each row as often as an input says."""

    def __init__(self, recursive=True, **options):
        super().__init__(**options)
        self.recursive = recursive
        self.dense = tf.keras.layers.Dense(3, activation="tanh")

    def build(self, shapes):
        self.dense.build([None, 3])

    def call(self, inputs):
        depths, rows = inputs
        return self.recurse(depths, rows) if self.recursive else self.loop(depths, rows)

    def recurse(self, depths, rows):
        with rtf.SubGraph("repeat") as repeat:
            n, x = repeat.input(tf.int32), repeat.input(rows.dtype, [3])
            more = lambda: self.dense(repeat(n - 1, x)[tf.newaxis])[0]  # noqa: E731
            repeat.output(tf.cond(n < 1, lambda: x, more))
        return repeat.map(depths, rows)

    def loop(self, depths, rows):
        for level in range(max(DEPTHS)):
            rows = tf.where(depths[:, tf.newaxis] > level, self.dense(rows), rows)
        return rows

    def compute_output_shape(self, shapes):
        return shapes[1]

    def get_config(self):
        return super().get_config() | {"recursive": self.recursive}


def functional(recursive):
    tf.keras.utils.set_random_seed(1)
    depths = tf.keras.Input([], dtype=tf.int32)
    rows = tf.keras.Input([3])
    found = Repeat(recursive)([depths, rows])
    return tf.keras.Model([depths, rows], tf.keras.layers.Dense(1)(found))


class Subclassed(tf.keras.Model):
    def __init__(self, recursive):
        super().__init__()
        self.repeat = Repeat(recursive)
        self.dense = tf.keras.layers.Dense(1)

    def call(self, inputs):
        return self.dense(self.repeat(inputs))


def subclassed(recursive):
    tf.keras.utils.set_random_seed(1)
    model = Subclassed(recursive)
    model([DEPTHS, X])
    return model


def trained(model, **choices):
    """Returns losses, predictions and weights of a model that was trained."""
    model.compile(tf.keras.optimizers.SGD(0.1), "mse", **choices)
    losses = model.fit([DEPTHS, X], Y, epochs=3, batch_size=2, shuffle=False, verbose=0)
    predicted = model.predict([DEPTHS, X], verbose=0)
    evaluated = model.evaluate([DEPTHS, X], Y, verbose=0)
    return [losses.history["loss"], predicted, evaluated, *model.get_weights()]


def assert_all_close(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
