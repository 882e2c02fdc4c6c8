"""The Child-Sum TreeLSTM: any number of children, in no order."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from recursive_tf.layers.cell import product
from recursive_tf.layers.gated_cell import LSTMState
from recursive_tf.layers.node_lstm import NodeLSTMCell


@keras.saving.register_keras_serializable("recursive_tf")
class ChildSumTreeLSTMCell(NodeLSTMCell):
    """The dependency TreeLSTM: a word at every node, any number of children.

    Tai, Socher, Manning. Improved Semantic Representations From Tree-Structured Long
    Short-Term Memory Networks. ACL 2015: equations 2 to 8.

        (2)       h~ = sum of h_k over the children k
        (3)       i = s(W_i x + U_i h~ + b_i)
        (4)       f_k = s(W_f x + U_f h_k + b_f), for each child k
        (5)       o = s(W_o x + U_o h~ + b_o)
        (6)       u = tanh(W_u x + U_u h~ + b_u)
        (7)       c = i * u + sum of f_k * c_k
        (8)       h = o * tanh(c)

    Three matrix products: of x, of h~, and of all children of all nodes that wait.
    """

    num_children = None

    def build(self, x_shape: Any) -> None:
        """Makes the weights for x of this length."""
        super().build(x_shape)
        units = self.units
        self.recurrent_kernel = self.recurrent("recurrent_kernel", units, 3 * units)
        self.forget_kernel = self.recurrent("forget_kernel", units, units)

    def call(self, children: LSTMState, x: tf.Tensor | None) -> LSTMState:
        """Returns the state of a node; those of its children are [k, units] each."""
        *iou_of_x, f_of_x = self.gates_of_x(x)
        h = self.recurrent_dropout(children.h)
        of_sum = product(tf.reduce_sum(h, 0), self.recurrent_kernel)
        i, o, u = tf.split(tf.concat(iou_of_x, 0) + of_sum, 3)
        f = self.recurrent_activation(tf.matmul(h, self.forget_kernel) + f_of_x)
        c = self.candidate(i, u) + tf.reduce_sum(f * children.c, 0)
        return self.lstm_state(o, c)
