"""What cells of lattices share: characters, and words that begin and end at them."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from recursive_tf.data import Forest
from recursive_tf.layers.cell import plus, product
from recursive_tf.layers.gated_cell import GatedCell
from recursive_tf.layers.lookup import look_up
from recursive_tf.layers.tree_cell import TreeCell, size_of_x

IS_WORD = "is_word"


class LatticeCell(GatedCell, TreeCell):
    """A cell of lattices, for `TreeEncoder(cell, dag=True)`, because they are graphs.

    A node is a position between characters or a word. The children of a position are
    the one before it, and the words that end at it; the child of a word is the position
    where it begins. The first position has no children. x is a vector and, after it, 1
    for a word, and 0 for a position, whose vector is that of the character before it:
    what `LatticeInputs` returns.

    A cell says what a word's memory is, and how a position mixes a candidate g with
    gate i and the memories m_k of the words that end there (Zhang, Yang. Chinese NER
    Using Lattice LSTM. ACL 2018, equations 14 to 16, and where no word ends, m' of the
    position before; s is the logistic function):

        a_k = s(V [x; m_k] + b_V)
        m = (e^i * g + sum of e^a_k * m_k) / (e^i + sum of e^a_k)
        m = (1 - i) * m' + i * g, if no word ends there
    """

    num_children = None
    inputs_at = "nodes"

    def build(self, x_shape: Any) -> None:
        """Makes the weights of links, for x of this length, the mark included."""
        size, units = size_of_x(x_shape) - 1, self.units
        self.link_x_kernel = self.kernel("link_x_kernel", size, units)
        self.link_c_kernel = self.recurrent("link_c_kernel", units, units)
        self.link_bias = self.bias("link_bias", units)

    def mixed(
        self,
        vector: tf.Tensor,
        gate: tf.Tensor,
        candidate: tf.Tensor,
        memories: tf.Tensor,
        is_word: tf.Tensor,
    ) -> tf.Tensor:
        """Returns the memory of a position.

        Args:
            vector: Of its character.
            gate: i, [units].
            candidate: g, [units].
            memories: Of its children, [k, units].
            is_word: Which of them are words, 1 or 0: [k].
        """
        marks = is_word[:, tf.newaxis]
        of_x = plus(product(vector, self.link_x_kernel), self.link_bias)
        links = tf.matmul(memories, self.link_c_kernel) + of_x
        shares = marks * tf.exp(self.recurrent_activation(links))
        words = tf.exp(gate) * candidate + tf.reduce_sum(shares * memories, 0)
        words /= tf.exp(gate) + tf.reduce_sum(shares, 0)
        before = tf.reduce_sum((1 - marks) * memories, 0)
        alone = (1 - gate) * before + gate * candidate
        return tf.where(tf.reduce_sum(is_word) > 0, words, alone)


@keras.saving.register_keras_serializable("recursive_tf")
class LatticeInputs(keras.layers.Layer):
    """What nodes of lattices take: a vector of a character or word, and which it is.

    A lattice is a forest whose feature "is_word" is 1 at words and 0 at positions; the
    token of a position is the character before it, -1 at the first one.
    """

    def __init__(self, characters: Any, words: Any, **kwargs: Any) -> None:
        """Makes the layer.

        Args:
            characters: A Keras layer that returns vectors of tokens of positions.
            words: The same, of words, of the same length.
            **kwargs: Of every Keras layer: name, dtype, trainable.
        """
        super().__init__(**kwargs)
        self.characters = characters
        self.words = words

    def build(self, forest_shape: Any) -> None:
        """Makes the variables."""
        for embedding in (self.characters, self.words):
            if not embedding.built:
                embedding.build(())

    def call(self, forest: Forest) -> tf.Tensor:
        """Returns [num_nodes, size + 1]: vectors, and the mark of words.

        Raises:
            ValueError: If the forest does not say which nodes are words.
        """
        if IS_WORD not in forest.features:
            raise ValueError(
                f"{self.name} takes lattices, forests with a feature 'is_word', 1 at "
                f"words and 0 at positions, and got one with the features "
                f"{sorted(forest.features)}. rtf.data.read_lattices makes lattices; or "
                "say forest.replace(features={'is_word': marks})."
            )
        is_word = tf.cast(forest.features[IS_WORD], tf.bool)
        tokens = tf.maximum(forest.tokens, 0)
        # Each table is asked only for what it has.
        none = tf.zeros_like(tokens)
        characters = look_up(self.characters, tf.where(is_word, none, tokens))
        words = look_up(self.words, tf.where(is_word, tokens, none))
        vectors = tf.where(is_word[:, tf.newaxis], words, characters)
        mark = tf.cast(is_word, vectors.dtype)[:, tf.newaxis]
        return tf.concat([vectors, mark], 1)

    def compute_output_spec(self, forest: Any) -> keras.KerasTensor:
        """Returns what a functional model sees of the inputs."""
        size = self.characters.compute_output_shape(())[-1]
        return keras.KerasTensor((None, size + 1), self.characters.compute_dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the layer."""
        config: dict[str, Any] = super().get_config()
        return config | {
            "characters": keras.saving.serialize_keras_object(self.characters),
            "words": keras.saving.serialize_keras_object(self.words),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LatticeInputs:
        """Returns the layer that these arguments make."""
        parts = {
            name: keras.saving.deserialize_keras_object(config[name])
            for name in ("characters", "words")
        }
        return cls(**(config | parts))
