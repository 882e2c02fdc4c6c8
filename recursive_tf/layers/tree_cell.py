"""What the cells of this package share: sizes, initializers, dropout, configs."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import keras
import tensorflow as tf


class LSTMState(NamedTuple):
    """What a node of an LSTM hands to its parent, [units] each."""

    h: tf.Tensor
    c: tf.Tensor


class TreeCell(keras.layers.Layer):
    """A cell with a number of units, weights and two kinds of dropout.

    Both kinds of dropout draw anew for each node. `dropout` hides parts of x.
    `recurrent_dropout` hides parts of the h that a child hands to its parent, and never
    parts of its c. Where a node has any number of children, the same parts of each are
    hidden.

    What a cell makes with `kernel` is multiplied by rows, so that all nodes that wait
    are one matrix product.
    """

    num_children: int | None = 2
    may_miss_children = False
    inputs_at = "leaves"

    def __init__(
        self,
        units: int,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Makes the cell.

        Args:
            units: The length of h.
            kernel_initializer: Of all matrices.
            bias_initializer: Of all biases.
            dropout: The share of x that is hidden in training.
            recurrent_dropout: The share of each child's h that is hidden in training.
            seed: Of both.
            **kwargs: Of every Keras layer: name, dtype, trainable.

        Raises:
            ValueError: If `units` is not positive, or a share is not from 0 to 1.
        """
        super().__init__(**kwargs)
        if units < 1:
            raise ValueError(f"units={units}: expected at least 1.")
        self.units = units
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.seed = seed
        drop = functools.partial(
            keras.layers.Dropout, seed=seed, dtype=self.dtype_policy
        )
        self.dropout = drop(dropout)
        # A mask for each of any number of children could not be drawn in lock step.
        shared = (1, units) if self.num_children is None else None
        self.recurrent_dropout = drop(recurrent_dropout, noise_shape=shared)

    def kernel(self, name: str, rows: int, columns: int) -> keras.Variable:
        """Returns a new matrix."""
        return self.add_weight(
            shape=(rows, columns), initializer=self._fresh_initializer(), name=name
        )

    def bias(self, name: str, size: int) -> keras.Variable:
        """Returns a new vector."""
        return self.add_weight(
            shape=(size,), initializer=self.bias_initializer, name=name
        )

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the cell."""
        config: dict[str, Any] = super().get_config()
        return config | {
            "units": self.units,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "bias_initializer": keras.initializers.serialize(self.bias_initializer),
            "dropout": self.dropout.rate,
            "recurrent_dropout": self.recurrent_dropout.rate,
            "seed": self.seed,
        }

    def _fresh_initializer(self) -> Any:
        """Returns the initializer for one matrix: with a seed it draws once."""
        initializer = self.kernel_initializer
        if isinstance(initializer, keras.initializers.Initializer):
            return initializer.clone()
        return initializer


def size_of_x(shape: Any) -> int:
    """Returns the length of x.

    Raises:
        ValueError: If x is no vector of known length.
    """
    shape = tuple(shape)
    if len(shape) != 1 or shape[0] is None:
        raise ValueError(
            f"A node must take a vector of known length. Got the shape {shape}: give "
            "the TreeEncoder an embedding, or call it with inputs, [num_nodes, size]."
        )
    return int(shape[0])


def product(x: tf.Tensor, kernel: Any) -> tf.Tensor:
    """Returns the row vector `x` times a matrix."""
    return tf.linalg.matvec(kernel, x, transpose_a=True)


def lstm_state(o: tf.Tensor, c: tf.Tensor) -> LSTMState:
    """Returns h = sigmoid(o) * tanh(c), and c."""
    return LSTMState(tf.sigmoid(o) * tf.tanh(c), c)
