"""The plain recursive network."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from recursive_tf.layers.cell import plus, product
from recursive_tf.layers.tree_cell import TreeCell, size_of_x


@keras.saving.register_keras_serializable("recursive_tf")
class TreeRNNCell(TreeCell):
    """The recursive neural network of binary trees.

    Socher, Lin, Ng, Manning. Parsing Natural Scenes and Natural Language with Recursive
    Neural Networks. ICML 2011.

        leaf      h = x
        inside    h = tanh(W [h_l; h_r] + b)

    So x has as many elements as h.
    """

    def build(self, x_shape: Any) -> None:
        """Makes the weights."""
        check_leaf_size(self, size_of_x(x_shape), self.units)
        self.recurrent_kernel = self.recurrent(
            "recurrent_kernel", 2 * self.units, self.units
        )
        self.recurrent_bias = self.bias("recurrent_bias", self.units)

    def leaf(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the state of a leaf."""
        return self.dropout(x)

    def call(self, children: tuple[tf.Tensor, tf.Tensor], x: None = None) -> tf.Tensor:
        """Returns the state of an inner node."""
        h = self.recurrent_dropout(tf.concat(children, 0))
        return self.activation(
            plus(product(h, self.recurrent_kernel), self.recurrent_bias)
        )


def check_leaf_size(cell: TreeCell, size: int, expected: int) -> None:
    """Raises a ValueError unless a leaf's x has the size of what it is used as."""
    if size != expected:
        raise ValueError(
            f"{cell.name} takes x of {expected} elements at a leaf, for units="
            f"{cell.units}. Got {size}: choose the embedding's output_dim so."
        )
