"""A cell run by an iterative program, to compare with the recursive one.

Two loops, over the leaves and then over the internal nodes, children before parents,
with every state in a tensor array (Jeong et al., EuroSys 2018, figure 1). One node
after the other: a loop does not know which nodes are independent.
"""

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.data import Forest


@keras.saving.register_keras_serializable("recursive_tf_models")
class IterativeEncoder(keras.layers.Layer):
    """Computes what `rtf.layers.TreeEncoder(..., return_nodes=True)` does.

    For cells of two children with x at leaves, and forests with children before their
    parents.
    """

    def __init__(self, cell: Any, embedding: Any, **kwargs: Any) -> None:
        """Makes the layer.

        Args:
            cell: What a node computes, e.g. `rtf.layers.TreeLSTMCell`.
            embedding: A `keras.layers.Embedding`, of one token.
            **kwargs: Of every Keras layer: name, dtype, trainable.
        """
        super().__init__(**kwargs)
        self.cell = cell
        self.embedding = embedding

    def build(self, forest_shape: Any = None) -> None:
        """Makes all variables."""
        if not self.embedding.built:
            self.embedding.build(())
        if not self.cell.built:
            self.cell.build((self.embedding.output_dim,))

    def call(self, forest: Forest) -> tf.Tensor:
        """Returns h of every node, [num_nodes, units]."""
        leaves = tf.where(forest.left < 0)[:, 0]
        internal = tf.where(forest.left >= 0)[:, 0]
        # Looked up before the loop, or its gradient would add a whole table a leaf.
        tokens = tf.gather(forest.tokens, leaves)
        words = rtf.layers.look_up(self.embedding, tokens)

        def run_leaf(i: tf.Tensor, _: Any) -> Any:
            return self.cell.leaf(words[i])

        def run_internal(i: tf.Tensor, states: Any) -> Any:
            left = tf.gather(forest.left, internal[i])
            right = tf.gather(forest.right, internal[i])
            return self.cell((_read(states, left), _read(states, right)), None)

        states = self._arrays(forest.num_nodes)
        states = _run(leaves, run_leaf, states)
        states = _run(internal, run_internal, states)
        return tf.nest.flatten(states)[0].stack()

    def _arrays(self, size: tf.Tensor) -> Any:
        """Returns an array for each tensor of a state."""
        x = tf.zeros([self.embedding.output_dim], self.compute_dtype)
        return tf.nest.map_structure(
            lambda s: tf.TensorArray(
                s.dtype, size, element_shape=s.shape, clear_after_read=False
            ),
            self.cell.leaf(x),
        )

    def compute_output_spec(self, forest: Any, **_: Any) -> keras.KerasTensor:
        """Returns what h of every node looks like before there is a forest."""
        return keras.KerasTensor((None, self.cell.units), self.compute_dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the layer."""
        config: dict[str, Any] = super().get_config()
        return config | {
            name: keras.saving.serialize_keras_object(getattr(self, name))
            for name in ("cell", "embedding")
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "IterativeEncoder":
        """Returns the layer that these arguments make."""
        parts = {
            name: keras.saving.deserialize_keras_object(config[name])
            for name in ("cell", "embedding")
        }
        return cls(**(config | parts))


def _run(nodes: tf.Tensor, body: Callable[[tf.Tensor, Any], Any], states: Any) -> Any:
    """Writes the state of each of some nodes, in order, into arrays of them all."""

    def step(i: tf.Tensor, states: Any) -> tuple[tf.Tensor, Any]:
        node = tf.cast(nodes[i], tf.int32)
        new = body(i, states)
        write = lambda array, value: array.write(node, value)  # noqa: E731
        return i + 1, tf.nest.map_structure(write, states, new)

    return tf.while_loop(lambda i, _: i < tf.size(nodes), step, (0, states))[1]


def _read(states: Any, node: tf.Tensor) -> Any:
    return tf.nest.map_structure(lambda array: array.read(node), states)
