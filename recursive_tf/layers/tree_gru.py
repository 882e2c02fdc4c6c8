"""The TreeGRU: a node mixes its children and a candidate."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from recursive_tf.layers.cell import plus, product
from recursive_tf.layers.gated_cell import GatedCell
from recursive_tf.layers.tree_cell import TreeCell, size_of_x


@keras.saving.register_keras_serializable("recursive_tf")
class TreeGRUCell(GatedCell, TreeCell):
    """The gated recursive unit of binary trees.

    Zhou, Cong, Chen. Modeling Sentence Pairs with Tree-structured Attentive Encoder.
    COLING 2016, after Chen, Qiu, Zhu, Wu, Huang. Sentence Modeling with Gated Recursive
    Neural Network. EMNLP 2015. With s the logistic function, at a leaf:

        h = tanh(W x + b)

    and inside, of q = [h_l; h_r]:

        r_l, r_r = s(U_r q + b_r)                        what the candidate sees
        z_l, z_r, z = softmax(U_z q + b_z)               over the three of an element
        h~ = tanh(U [r_l * h_l; r_r * h_r] + b_h)
        h = z_l * h_l + z_r * h_r + z * h~

    The papers' update gates are normalized so, and biases are added. In place of this
    softmax there is no other activation. Two matrix
    products inside: of the gates, and of the candidate, which waits for them.
    """

    def build(self, x_shape: Any) -> None:
        """Makes the weights for x of this length."""
        units = self.units
        self.leaf_kernel = self.kernel("leaf_kernel", size_of_x(x_shape), units)
        self.leaf_bias = self.bias("leaf_bias", units)
        self.gate_kernel = self.recurrent("gate_kernel", 2 * units, 5 * units)
        self.gate_bias = self.bias("gate_bias", 5 * units)
        self.candidate_kernel = self.recurrent("candidate_kernel", 2 * units, units)
        self.candidate_bias = self.bias("candidate_bias", units)

    def leaf(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the state of a leaf."""
        return self.activation(
            plus(product(self.dropout(x), self.leaf_kernel), self.leaf_bias)
        )

    def call(self, children: tuple[tf.Tensor, tf.Tensor], x: None = None) -> tf.Tensor:
        """Returns the state of an inner node."""
        units = self.units
        h = self.recurrent_dropout(tf.concat(children, 0))
        gates = plus(product(h, self.gate_kernel), self.gate_bias)
        reset, *scores = tf.split(gates, [2 * units, units, units, units])
        seen = self.recurrent_activation(reset) * h
        candidate = plus(product(seen, self.candidate_kernel), self.candidate_bias)
        choices = [*children, self.activation(candidate)]
        # The softmax of each unit's three scores, which are the same if all of them
        # are less by the largest one.
        largest = tf.maximum(tf.maximum(scores[0], scores[1]), scores[2])
        weights = [tf.exp(score - tf.stop_gradient(largest)) for score in scores]
        parts = [w * choice for w, choice in zip(weights, choices, strict=True)]
        return tf.add_n(parts) / tf.add_n(weights)
