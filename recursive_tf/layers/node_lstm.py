"""What TreeLSTMs with words at nodes share: the part of x in their gates."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from recursive_tf.layers.cell import product
from recursive_tf.layers.gated_cell import GatedCell, LSTMState
from recursive_tf.layers.tree_cell import TreeCell, size_of_x

INPUTS_AT = ("leaves", "nodes")


class NodeLSTMCell(GatedCell, TreeCell):
    """A TreeLSTM whose gates i, o, u and f get a part of x, and parts of children.

    So a node without children has i, o and u of x alone. A node that takes no x, where
    inputs are at leaves, has the biases.
    """

    def __init__(self, units: int, *, inputs_at: str = "nodes", **kwargs: Any) -> None:
        """Makes the cell.

        Args:
            units: The length of h and of c.
            inputs_at: Which nodes take x: all "nodes", or only "leaves".
            **kwargs: Of `GatedCell`.

        Raises:
            ValueError: If `inputs_at` is another word.
        """
        super().__init__(units, **kwargs)
        if inputs_at not in INPUTS_AT:
            raise ValueError(f"inputs_at={inputs_at!r}: choose one of {INPUTS_AT}.")
        self.inputs_at = inputs_at

    def build(self, x_shape: Any) -> None:
        """Makes the weights for x of this length."""
        size, units = size_of_x(x_shape), self.units
        self.input_kernel = self.kernel("input_kernel", size, 4 * units)
        self.gate_bias = self.bias("gate_bias", 4 * units)

    def leaf(self, x: tf.Tensor) -> LSTMState:
        """Returns the state of a node without children."""
        i, o, u, _ = self.gates_of_x(x)
        return self.lstm_state(o, self.candidate(i, u))

    def gates_of_x(self, x: tf.Tensor | None) -> list[tf.Tensor]:
        """Returns the biases of i, o, u and f, [units] each, with what x adds."""
        of_x = None if x is None else product(self.dropout(x), self.input_kernel)
        if self.gate_bias is not None:
            gates = self.gate_bias + (0 if of_x is None else of_x)
        elif of_x is not None:
            gates = of_x
        else:
            gates = tf.zeros([4 * self.units], self.compute_dtype)
        return tf.split(gates, 4)  # type: ignore[no-any-return]

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the cell."""
        return super().get_config() | {"inputs_at": self.inputs_at}
