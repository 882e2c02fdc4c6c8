"""TreeLSTM whose inner nodes are of two kinds, each with weights of its own."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.ed_batch import trees
from benchmarks.ed_batch.workload import Workload


class TwoKinds(keras.layers.Layer):
    """A cell whose x ends with the kind of the node, 0 or 1."""

    inputs_at = "nodes"

    def __init__(self, units: int) -> None:
        super().__init__()
        self.kinds = [rtf.layers.TreeLSTMCell(units) for _ in range(2)]

    def build(self, x_shape: Any) -> None:
        """Makes the weights of both kinds."""
        for cell in self.kinds:
            cell.build((x_shape[0] - 1,))

    def leaf(self, x: tf.Tensor) -> Any:
        """Returns the state of a word, whatever its kind."""
        return self.kinds[0].leaf(x[:-1])

    def call(self, children: Any, x: tf.Tensor) -> Any:
        """Returns the state of an inner node."""
        first, second = self.kinds
        return tf.cond(x[-1] < 1, lambda: first(children), lambda: second(children))


class TreeLSTMTwoKinds(keras.layers.Layer):
    """A node is of the kind that its label is: even or odd."""

    def __init__(self, units: int, **choices: Any) -> None:
        super().__init__()
        self.words = keras.layers.Embedding(trees.VOCABULARY, units)
        self.encoder = rtf.layers.TreeEncoder(TwoKinds(units), **choices)

    def call(self, forest: rtf.data.Forest) -> tf.Tensor:
        """Returns the states of roots."""
        vectors = self.words(tf.maximum(forest.tokens, 0))
        kinds = tf.cast(forest.labels % 2, tf.float32)
        return self.encoder(forest, tf.concat([vectors, kinds[:, tf.newaxis]], 1))


WORKLOAD = Workload("TreeLSTM, 2 kinds", TreeLSTMTwoKinds, trees.batches)
