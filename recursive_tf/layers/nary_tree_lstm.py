"""The N-ary TreeLSTM: up to N children, each with weights of its own."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from recursive_tf.layers.cell import product
from recursive_tf.layers.gated_cell import LSTMState
from recursive_tf.layers.node_lstm import NodeLSTMCell


@keras.saving.register_keras_serializable("recursive_tf")
class NaryTreeLSTMCell(NodeLSTMCell):
    """The TreeLSTM of nodes with at most N children, in order, and a word at each node.

    Tai, Socher, Manning. Improved Semantic Representations From Tree-Structured Long
    Short-Term Memory Networks. ACL 2015: equations 9 to 14. A child that is missing has
    h = c = 0.

        (9)       i = s(W_i x + sum over l of U_il h_l + b_i)
        (10)      f_k = s(W_f x + sum over l of U_fkl h_l + b_f), k = 1 ... N
        (11)      o = s(W_o x + sum over l of U_ol h_l + b_o)
        (12)      u = tanh(W_u x + sum over l of U_ul h_l + b_u)
        (13)      c = i * u + sum over l of f_l * c_l
        (14)      h = o * tanh(c)

    Two matrix products: of x, and of all children side by side.
    """

    may_miss_children = True

    def __init__(self, units: int, num_children: int = 2, **kwargs: Any) -> None:
        """Makes the cell.

        Args:
            units: The length of h and of c.
            num_children: How many children a node has at most.
            **kwargs: Of `NodeLSTMCell`: `inputs_at`, and what `GatedCell` takes.

        Raises:
            ValueError: If `num_children` is not positive.
        """
        super().__init__(units, **kwargs)
        if num_children < 1:
            raise ValueError(f"num_children={num_children}: expected at least 1.")
        self.num_children: int = num_children

    def build(self, x_shape: Any) -> None:
        """Makes the weights for x of this length."""
        super().build(x_shape)
        units, count = self.units, self.num_children
        self.recurrent_kernel = self.recurrent(
            "recurrent_kernel", count * units, (3 + count) * units
        )

    def call(self, children: tuple[LSTMState, ...], x: tf.Tensor | None) -> LSTMState:
        """Returns the state of a node over others."""
        *iou_of_x, f_of_x = self.gates_of_x(x)
        h = self.recurrent_dropout(tf.concat([child.h for child in children], 0))
        parts = tf.split(product(h, self.recurrent_kernel), 3 + self.num_children)
        i, o, u = (a + b for a, b in zip(iou_of_x, parts[:3], strict=True))
        c = self.candidate(i, u)
        for f_of_children, child in zip(parts[3:], children, strict=True):
            c += self.recurrent_activation(f_of_x + f_of_children) * child.c
        return self.lstm_state(o, c)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the cell."""
        return super().get_config() | {"num_children": self.num_children}
