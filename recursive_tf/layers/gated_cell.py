"""What cells with gates share: their activation, and the state of an LSTM."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
import tensorflow as tf

from recursive_tf.layers.cell import Cell


class LSTMState(NamedTuple):
    """What a node of an LSTM hands to its parent, [units] each."""

    h: tf.Tensor
    c: tf.Tensor


class GatedCell(Cell):
    """A cell with gates, which `recurrent_activation` opens and closes."""

    def __init__(
        self, units: int, *, recurrent_activation: Any = "sigmoid", **kwargs: Any
    ) -> None:
        """Makes the cell.

        Args:
            units: The length of h.
            recurrent_activation: What takes the place of the logistic function in
                gates.
            **kwargs: Of `Cell`.
        """
        super().__init__(units, **kwargs)
        self.recurrent_activation = keras.activations.get(recurrent_activation)

    def candidate(self, i: tf.Tensor, u: tf.Tensor) -> tf.Tensor:
        """Returns s(i) * tanh(u), what an LSTM's node adds to its memory."""
        return self.recurrent_activation(i) * self.activation(u)

    def lstm_state(self, o: tf.Tensor, c: tf.Tensor) -> LSTMState:
        """Returns h = s(o) * tanh(c), and c."""
        return LSTMState(self.recurrent_activation(o) * self.activation(c), c)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the cell."""
        activation = keras.activations.serialize(self.recurrent_activation)
        return super().get_config() | {"recurrent_activation": activation}
