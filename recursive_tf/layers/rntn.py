"""The recursive neural tensor network."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from recursive_tf.layers.cell import plus, product
from recursive_tf.layers.tree_cell import TreeCell, size_of_x
from recursive_tf.layers.tree_rnn import check_leaf_size


@keras.saving.register_keras_serializable("recursive_tf")
class RNTNCell(TreeCell):
    """The recursive neural tensor network of binary trees.

    Socher, Perelygin, Wu, Chuang, Manning, Ng, Potts. Recursive Deep Models for
    Semantic Compositionality Over a Sentiment Treebank. EMNLP 2013, section 4.3.

        leaf      h = x
        inside    h_k = tanh(q' V_k q + (W q)_k + b_k), of q = [h_l; h_r]

    So x has as many elements as h. The bias b is not from the paper.

    The tensor V, [2d, 2d, d], is a matrix of 2d rows: q' V is one product for all nodes
    that wait, and each then multiplies its own.
    """

    def build(self, x_shape: Any) -> None:
        """Makes the weights; the tensor with the scale of a matrix of 2d rows."""
        check_leaf_size(self, size_of_x(x_shape), self.units)
        units, pair = self.units, 2 * self.units
        self.tensor = self.recurrent("tensor", pair, pair * units)
        self.recurrent_kernel = self.recurrent("recurrent_kernel", pair, units)
        self.recurrent_bias = self.bias("recurrent_bias", units)

    def leaf(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the state of a leaf."""
        return self.dropout(x)

    def call(self, children: tuple[tf.Tensor, tf.Tensor], x: None = None) -> tf.Tensor:
        """Returns the state of an inner node."""
        q = self.recurrent_dropout(tf.concat(children, 0))
        halfway = tf.reshape(product(q, self.tensor), [2 * self.units, self.units])
        linear = plus(product(q, self.recurrent_kernel), self.recurrent_bias)
        return self.activation(product(q, halfway) + linear)
