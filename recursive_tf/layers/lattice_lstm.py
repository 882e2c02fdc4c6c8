"""The LatticeLSTM: characters, and the words that may begin and end at them."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
import tensorflow as tf

from recursive_tf.data import Forest
from recursive_tf.layers.lookup import look_up
from recursive_tf.layers.tree_cell import TreeCell, product, size_of_x

IS_WORD = "is_word"


class LatticeState(NamedTuple):
    """What a position or a word hands on.

    Attributes:
        h: [units]; zeros of a word.
        c: [units].
        is_word: 1 or 0.
    """

    h: tf.Tensor
    c: tf.Tensor
    is_word: tf.Tensor


@keras.saving.register_keras_serializable("recursive_tf")
class LatticeLSTMCell(TreeCell):
    """A cell of lattices, for `TreeEncoder(cell, dag=True)`, because they are graphs.

    A node is a position between characters or a word. The children of a position are
    the one before it, and the words that end at it; the child of a word is the position
    where it begins. The first position has no children. x is a vector and, after it, 1
    for a word, and 0 for a position, whose vector is that of the character before it:
    what `LatticeInputs` returns.

    Zhang, Yang. Chinese NER Using Lattice LSTM. ACL 2018: equations 11 to 16. With s
    the logistic function, and (h', c') of the position before, a position has

        (11)      i, o = s(W [x; h'] + b), g = tanh(W [x; h'] + b)
        (14)      a_k = s(V [x; c_k] + b_V), of each word k that ends there
        (15, 16)  c = (e^i * g + sum of e^a_k * c_k) / (e^i + sum of e^a_k)
                  c = (1 - i) * c' + i * g, if no word ends there
        (11)      h = o * tanh(c)

    and a word, with (h', c') of the position where it begins, has no output gate:

        (13)      i, f = s(W_w [x; h'] + b_w), g = tanh(W_w [x; h'] + b_w)
        (13)      c = f * c' + i * g

    Two things are not from the paper. Where no word ends, its (11) has a forget gate of
    its own; 1 - i in place of it is from the authors' program. And its word goes on
    from the state after its first character; here it does so from what its child is:
    in the lattices of ED-Batch, which `rtf.data.read_lattices` reads, the state before.
    """

    num_children = None
    inputs_at = "nodes"

    def build(self, x_shape: Any) -> None:
        """Makes the weights for x of this length, the mark of a word included."""
        size, units = size_of_x(x_shape) - 1, self.units
        both, gates = size + units, 3 * units
        self.position_kernel = self.kernel("position_kernel", both, gates)
        self.position_bias = self.bias("position_bias", gates)
        self.word_kernel = self.kernel("word_kernel", both, gates)
        self.word_bias = self.bias("word_bias", gates)
        self.link_x_kernel = self.kernel("link_x_kernel", size, units)
        self.link_c_kernel = self.kernel("link_c_kernel", units, units)
        self.link_bias = self.bias("link_bias", units)

    def leaf(self, x: tf.Tensor) -> LatticeState:
        """Returns the state of the first position."""
        zeros = tf.zeros([self.units], x.dtype)
        return LatticeState(zeros, zeros, tf.zeros([], x.dtype))

    def call(self, children: LatticeState, x: tf.Tensor) -> LatticeState:
        """Returns the state of a position or a word; of children, [k, ...]."""
        vector, is_word = self.dropout(x[:-1]), x[-1]
        is_position = 1 - children.is_word[:, tf.newaxis]
        h = self.recurrent_dropout(tf.reduce_sum(is_position * children.h, 0))
        c = tf.reduce_sum(is_position * children.c, 0)
        both = tf.concat([vector, h], 0)
        new_h, new_c = tf.cond(
            is_word > 0,
            lambda: self._word(both, c),
            lambda: self._position(both, vector, c, children),
        )
        return LatticeState(new_h, new_c, is_word)

    def _word(self, both: tf.Tensor, c: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        i, f, g = tf.split(product(both, self.word_kernel) + self.word_bias, 3)
        new = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        return tf.zeros_like(new), new

    def _position(
        self, both: tf.Tensor, vector: tf.Tensor, c: tf.Tensor, children: LatticeState
    ) -> tuple[tf.Tensor, tf.Tensor]:
        i, o, g = tf.split(product(both, self.position_kernel) + self.position_bias, 3)
        i, g = tf.sigmoid(i), tf.tanh(g)
        of_x = product(vector, self.link_x_kernel) + self.link_bias
        links = tf.sigmoid(tf.matmul(children.c, self.link_c_kernel) + of_x)
        shares = children.is_word[:, tf.newaxis] * tf.exp(links)
        mixed = tf.exp(i) * g + tf.reduce_sum(shares * children.c, 0)
        mixed /= tf.exp(i) + tf.reduce_sum(shares, 0)
        has_words = tf.reduce_sum(children.is_word) > 0
        new = tf.where(has_words, mixed, (1 - i) * c + i * g)
        return tf.sigmoid(o) * tf.tanh(new), new


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
        """Returns [num_nodes, size + 1]: vectors, and the mark of words."""
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
