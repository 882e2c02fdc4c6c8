"""The binary TreeLSTM with words at the leaves."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from recursive_tf.layers.cell import plus, product
from recursive_tf.layers.gated_cell import GatedCell, LSTMState
from recursive_tf.layers.tree_cell import TreeCell, size_of_x


@keras.saving.register_keras_serializable("recursive_tf")
class TreeLSTMCell(GatedCell, TreeCell):
    """The constituency TreeLSTM of binary trees.

    Tai, Socher, Manning. Improved Semantic Representations From Tree-Structured Long
    Short-Term Memory Networks. ACL 2015: equations 9 to 14 with N = 2. A leaf has no
    children and so no forget gate; an inner node has no word.

    At a leaf, with s the logistic function:

        (9)       i = s(W_i x + b_i)
        (11)      o = s(W_o x + b_o)
        (12)      u = tanh(W_u x + b_u)
        (13)      c = i * u
        (14)      h = o * tanh(c)

    Inside, of the left child l and the right one r:

        (9)       i = s(U_i [h_l; h_r] + b'_i)
        (10)      f_k = s(U_fk [h_l; h_r] + b'_fk), k = l, r
        (11, 12)  o, u alike
        (13)      c = i * u + f_l * c_l + f_r * c_r
        (14)      h = o * tanh(c)

    One matrix product at a leaf, and one inside.
    """

    def build(self, x_shape: Any) -> None:
        """Makes the weights for x of this length."""
        self.leaf_kernel = self.kernel(
            "leaf_kernel", size_of_x(x_shape), 3 * self.units
        )
        self.leaf_bias = self.bias("leaf_bias", 3 * self.units)
        self.recurrent_kernel = self.recurrent(
            "recurrent_kernel", 2 * self.units, 5 * self.units
        )
        self.recurrent_bias = self.bias("recurrent_bias", 5 * self.units)

    def leaf(self, x: tf.Tensor) -> LSTMState:
        """Returns the state of a leaf."""
        gates = plus(product(self.dropout(x), self.leaf_kernel), self.leaf_bias)
        i, o, u = tf.split(gates, 3)
        return self.lstm_state(o, self.candidate(i, u))

    def call(self, children: tuple[LSTMState, LSTMState], x: None = None) -> LSTMState:
        """Returns the state of an inner node."""
        left, right = children
        h = self.recurrent_dropout(tf.concat([left.h, right.h], 0))
        gates = plus(product(h, self.recurrent_kernel), self.recurrent_bias)
        i, f_left, f_right, o, u = tf.split(gates, 5)
        gate = self.recurrent_activation
        c = self.candidate(i, u)
        c += gate(f_left) * left.c + gate(f_right) * right.c
        return self.lstm_state(o, c)
