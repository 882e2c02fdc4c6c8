"""The LatticeGRU."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
import tensorflow as tf

from recursive_tf.layers.cell import plus, product
from recursive_tf.layers.lattice_cell import LatticeCell
from recursive_tf.layers.tree_cell import size_of_x


class LatticeGRUState(NamedTuple):
    """What a position or a word hands on.

    Attributes:
        h: [units].
        is_word: 1 or 0.
    """

    h: tf.Tensor
    is_word: tf.Tensor


@keras.saving.register_keras_serializable("recursive_tf")
class LatticeGRUCell(LatticeCell):
    """The GRU of lattices, for `TreeEncoder(cell, dag=True)`; see `LatticeCell`.

    ED-Batch (Chen et al. 2023, table 1) has it as a workload, and no equations. These
    are those of a GRU (Cho et al. Learning Phrase Representations using RNN
    Encoder-Decoder. EMNLP 2014) in the form of the LatticeLSTM. With s the logistic
    function and h' of the position before, or of that where a word begins, a position
    has, with weights W, and a word with weights of its own:

        r, z = s(W [x; h'] + b)
        g = tanh(W_g [x; r * h'] + b_g)

    h of a word is (1 - z) * h' + z * g. h of a position is the memory of `LatticeCell`
    for the gate z, the candidate g, and h of the words that end there.
    """

    def build(self, x_shape: Any) -> None:
        """Makes the weights for x of this length, the mark of a word included."""
        size, units = size_of_x(x_shape) - 1, self.units
        both = size + units
        self.position_kernel = self.kernel("position_kernel", both, 2 * units)
        self.position_bias = self.bias("position_bias", 2 * units)
        self.position_candidate_kernel = self.kernel(
            "position_candidate_kernel", both, units
        )
        self.position_candidate_bias = self.bias("position_candidate_bias", units)
        self.word_kernel = self.kernel("word_kernel", both, 2 * units)
        self.word_bias = self.bias("word_bias", 2 * units)
        self.word_candidate_kernel = self.kernel("word_candidate_kernel", both, units)
        self.word_candidate_bias = self.bias("word_candidate_bias", units)
        super().build(x_shape)

    def leaf(self, x: tf.Tensor) -> LatticeGRUState:
        """Returns the state of the first position."""
        return LatticeGRUState(tf.zeros([self.units], x.dtype), tf.zeros([], x.dtype))

    def call(self, children: LatticeGRUState, x: tf.Tensor) -> LatticeGRUState:
        """Returns the state of a position or a word; of children, [k, ...]."""
        vector, is_word = self.dropout(x[:-1]), x[-1]
        is_position = 1 - children.is_word[:, tf.newaxis]
        h = tf.reduce_sum(is_position * children.h, 0)
        new_h = tf.cond(
            is_word > 0,
            lambda: self._word(vector, h),
            lambda: self._position(vector, h, children),
        )
        return LatticeGRUState(new_h, is_word)

    def _word(self, vector: tf.Tensor, h: tf.Tensor) -> tf.Tensor:
        gates = self._gates(vector, h, self.word_kernel, self.word_bias)
        reset, update = tf.split(gates, 2)
        both = tf.concat([vector, reset * h], 0)
        candidate = plus(
            product(both, self.word_candidate_kernel), self.word_candidate_bias
        )
        return (1 - update) * h + update * self.activation(candidate)

    def _position(
        self, vector: tf.Tensor, h: tf.Tensor, children: LatticeGRUState
    ) -> tf.Tensor:
        gates = self._gates(vector, h, self.position_kernel, self.position_bias)
        reset, update = tf.split(gates, 2)
        both = tf.concat([vector, reset * h], 0)
        candidate = product(both, self.position_candidate_kernel)
        candidate = self.activation(plus(candidate, self.position_candidate_bias))
        return self.mixed(vector, update, candidate, children.h, children.is_word)

    def _gates(
        self, vector: tf.Tensor, h: tf.Tensor, kernel: Any, bias: Any
    ) -> tf.Tensor:
        both = tf.concat([vector, self.recurrent_dropout(h)], 0)
        return self.recurrent_activation(plus(product(both, kernel), bias))
