"""Keras layers, which take batches, in a body, which has one node."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from recursive_tf.layers.losses import refused_losses


@keras.saving.register_keras_serializable("recursive_tf")
class PerNode(keras.layers.Wrapper):
    """Calls a Keras layer for one node: a batch of one goes in, and its row comes out.

    Keras's layers take a batch, and a body has one node. All nodes that wait are one
    batch again when the program runs.

    >>> import recursive_tf as rtf
    >>> mix = PerNode(keras.layers.Dense(4, "tanh"))
    >>> with rtf.SubGraph("sum_of_words") as of_words:
    ...     depth = of_words.input(tf.int32)
    ...     below = lambda: mix(of_words(depth - 1))
    ...     of_words.output(tf.cond(depth < 1, lambda: tf.ones([4]), below))
    >>> of_words(3).shape
    TensorShape([4])

    A layer of several arguments takes them all, e.g. a cell of an RNN its states:
    `h, state = PerNode(keras.layers.LSTMCell(8))(x, [h, c])`. What is no tensor is
    handed on as it is. A layer that looks at a whole batch, as BatchNormalization does
    in training, sees that of one node.
    """

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        """Makes the layer.

        Args:
            layer: A Keras layer.
            **kwargs: Of every Keras layer: name, dtype, trainable.
        """
        kwargs.setdefault("dtype", getattr(layer, "dtype_policy", None))
        super().__init__(layer, **kwargs)

    def build(self, *shapes: Any, **named: Any) -> None:
        """Makes the variables, for one node's first argument of this shape.

        A layer of several arguments makes them when it is first called.
        """
        if len(shapes) == 1 and not named and not self.layer.built:
            self.layer.build((None, *shapes[0]))

    def call(self, *arguments: Any, **options: Any) -> Any:
        """Returns what the layer returns of the node.

        Raises:
            ValueError: If the layer adds a loss in a body.
        """
        rows, named = tf.nest.map_structure(_as_batch, (arguments, options))
        with refused_losses(self.layer):
            found = self.layer(*rows, **named)
        return tf.nest.map_structure(lambda batch: batch[0], found)


def _as_batch(argument: Any) -> Any:
    return argument[tf.newaxis] if tf.is_tensor(argument) else argument
