"""The matrix-vector recursive network: each node is a vector and a matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
import tensorflow as tf

from recursive_tf.layers.cell import plus, product
from recursive_tf.layers.tree_cell import TreeCell, size_of_x
from recursive_tf.layers.tree_rnn import check_leaf_size


class MVState(NamedTuple):
    """What a node is, and how it changes its sibling.

    Attributes:
        vector: [units].
        columns: Of the matrix, one behind the other: [units, units].
    """

    vector: tf.Tensor
    columns: tf.Tensor


@keras.saving.register_keras_serializable("recursive_tf")
class MVRNNCell(TreeCell):
    """The matrix-vector recursive neural network of binary trees.

    Socher, Huval, Manning, Ng. Semantic Compositionality through Recursive
    Matrix-Vector Spaces. EMNLP 2012: equations 2 and 3. Inside, of the left child
    (a, A) and the right one (b, B):

        (2)       p = tanh(W [B a; A b] + w)
        (3)       P = W_M [A; B]

    The bias w is not from the paper.

    At a leaf, x has the d elements of the vector, and then the d * d elements of the
    matrix minus the identity, column by column. So an embedding that begins near zero
    begins with matrices near the identity, as in the paper. Only vectors are dropped.
    """

    def build(self, x_shape: Any) -> None:
        """Makes the weights."""
        units = self.units
        check_leaf_size(self, size_of_x(x_shape), units + units * units)
        self.vector_kernel = self.recurrent("vector_kernel", 2 * units, units)
        self.vector_bias = self.bias("vector_bias", units)
        self.matrix_kernel = self.recurrent("matrix_kernel", 2 * units, units)

    def leaf(self, x: tf.Tensor) -> MVState:
        """Returns the state of a leaf."""
        units = self.units
        vector, columns = x[:units], tf.reshape(x[units:], [units, units])
        return MVState(self.dropout(vector), tf.eye(units, dtype=x.dtype) + columns)

    def call(self, children: tuple[MVState, MVState], x: None = None) -> MVState:
        """Returns the state of an inner node."""
        left, right = children
        changed = [
            product(self.recurrent_dropout(left.vector), right.columns),
            product(self.recurrent_dropout(right.vector), left.columns),
        ]
        vector = plus(
            product(tf.concat(changed, 0), self.vector_kernel), self.vector_bias
        )
        # Column by column, so that all columns of all nodes that wait are rows of one
        # product.
        both = tf.concat([left.columns, right.columns], 1)
        return MVState(self.activation(vector), tf.matmul(both, self.matrix_kernel))
