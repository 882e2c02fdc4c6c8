"""The LatticeLSTM."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
import tensorflow as tf

from recursive_tf.layers.cell import plus, product
from recursive_tf.layers.lattice_cell import LatticeCell
from recursive_tf.layers.tree_cell import size_of_x


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
class LatticeLSTMCell(LatticeCell):
    """The LSTM of lattices, for `TreeEncoder(cell, dag=True)`; see `LatticeCell`.

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

    def build(self, x_shape: Any) -> None:
        """Makes the weights for x of this length, the mark of a word included."""
        size, units = size_of_x(x_shape) - 1, self.units
        both, gates = size + units, 3 * units
        self.position_kernel = self.kernel("position_kernel", both, gates)
        self.position_bias = self.bias("position_bias", gates)
        self.word_kernel = self.kernel("word_kernel", both, gates)
        self.word_bias = self.bias("word_bias", gates)
        super().build(x_shape)

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
            lambda: self._position(both, vector, children),
        )
        return LatticeState(new_h, new_c, is_word)

    def _word(self, both: tf.Tensor, c: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        i, f, g = tf.split(plus(product(both, self.word_kernel), self.word_bias), 3)
        new = self.recurrent_activation(f) * c + self.candidate(i, g)
        return tf.zeros_like(new), new

    def _position(
        self, both: tf.Tensor, vector: tf.Tensor, children: LatticeState
    ) -> tuple[tf.Tensor, tf.Tensor]:
        gates = plus(product(both, self.position_kernel), self.position_bias)
        i, o, g = tf.split(gates, 3)
        gate = self.recurrent_activation
        new = self.mixed(
            vector, gate(i), self.activation(g), children.c, children.is_word
        )
        return gate(o) * self.activation(new), new
