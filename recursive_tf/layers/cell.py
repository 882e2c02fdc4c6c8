"""What every cell of this package has: units, weights, an activation and dropout."""

from __future__ import annotations

import functools
from typing import Any

import keras
import tensorflow as tf


class Cell(keras.layers.Layer):
    """A cell with a number of units, weights and two kinds of dropout.

    Both kinds of dropout draw anew for each node. `dropout` hides parts of x.
    `recurrent_dropout` hides parts of the h that a child hands to its parent, and never
    parts of its c.

    What a cell makes with `kernel` or `recurrent` is multiplied by rows, so that all
    nodes that wait are one matrix product.
    """

    def __init__(  # noqa: PLR0913 (what Keras's cells take)
        self,
        units: int,
        *,
        activation: Any = "tanh",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = None,
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Makes the cell.

        A recurrent matrix is one that multiplies only states of other nodes. All others
        multiply x, or x and states side by side.

        Args:
            units: The length of h.
            activation: What takes the place of tanh; None is the identity.
            use_bias: Whether there are biases.
            kernel_initializer: Of all matrices, but for `recurrent_initializer`.
            recurrent_initializer: Of recurrent matrices; None is that of the others.
            bias_initializer: Of all biases.
            kernel_regularizer: Of matrices that are not recurrent.
            recurrent_regularizer: Of recurrent matrices.
            bias_regularizer: Of all biases.
            kernel_constraint: Of matrices that are not recurrent.
            recurrent_constraint: Of recurrent matrices.
            bias_constraint: Of all biases.
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
        self.activation = keras.activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(recurrent_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        self.recurrent_regularizer = keras.regularizers.get(recurrent_regularizer)
        self.bias_regularizer = keras.regularizers.get(bias_regularizer)
        self.kernel_constraint = keras.constraints.get(kernel_constraint)
        self.recurrent_constraint = keras.constraints.get(recurrent_constraint)
        self.bias_constraint = keras.constraints.get(bias_constraint)
        self.seed = seed
        drop = functools.partial(
            keras.layers.Dropout, seed=seed, dtype=self.dtype_policy
        )
        self.dropout = drop(dropout)
        self.recurrent_dropout = drop(recurrent_dropout, noise_shape=self._mask_of_h())

    def kernel(self, name: str, rows: int, columns: int) -> keras.Variable:
        """Returns a new matrix, of x, or of x and states side by side."""
        return self.add_weight(
            shape=(rows, columns),
            initializer=_fresh(self.kernel_initializer),
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            name=name,
        )

    def recurrent(self, name: str, rows: int, columns: int) -> keras.Variable:
        """Returns a new matrix, of states alone."""
        initializer = self.recurrent_initializer
        if initializer is None:
            initializer = self.kernel_initializer
        return self.add_weight(
            shape=(rows, columns),
            initializer=_fresh(initializer),
            regularizer=self.recurrent_regularizer,
            constraint=self.recurrent_constraint,
            name=name,
        )

    def bias(self, name: str, size: int) -> keras.Variable | None:
        """Returns a new vector, for `plus`; None without biases."""
        if not self.use_bias:
            return None
        return self.add_weight(
            shape=(size,),
            initializer=self.bias_initializer,
            regularizer=self.bias_regularizer,
            constraint=self.bias_constraint,
            name=name,
        )

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the cell."""
        config: dict[str, Any] = super().get_config()
        for part in ("kernel", "recurrent", "bias"):
            for kind in ("initializer", "regularizer", "constraint"):
                name = f"{part}_{kind}"
                config[name] = keras.saving.serialize_keras_object(getattr(self, name))
        return config | {
            "units": self.units,
            "activation": keras.activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "dropout": self.dropout.rate,
            "recurrent_dropout": self.recurrent_dropout.rate,
            "seed": self.seed,
        }

    def _mask_of_h(self) -> tuple[int, ...] | None:
        """Returns the shape of what hides parts of h, if it is not that of h."""
        return None


def _fresh(initializer: Any) -> Any:
    """Returns an initializer for one matrix: with a seed it draws once."""
    if isinstance(initializer, keras.initializers.Initializer):
        return initializer.clone()
    return initializer


def product(x: tf.Tensor, kernel: Any) -> tf.Tensor:
    """Returns the row vector `x` times a matrix."""
    return tf.linalg.matvec(kernel, x, transpose_a=True)


def plus(x: tf.Tensor, bias: Any) -> tf.Tensor:
    """Returns `x` with a bias of `Cell.bias` added."""
    return x if bias is None else x + bias
