"""A label for every node of a tree, from the node's state."""

from collections.abc import Callable

import tensorflow as tf

from models.cells import State, TreeLSTMCell
from recursive_tf.data import Forest

# Runs a cell over a forest: root states, and `h` of every node.
Encoder = Callable[[Forest, TreeLSTMCell], tuple[State, tf.Tensor]]


class NodeClassifier(tf.Module):
    """Softmax regression on `h` of every node, after one pass of an encoder.

    The encoder is a program over nodes; the classifier stands outside of it and runs
    once for all nodes together. Dropout is on the classifier's input, as in Tai et
    al. (2015), and only in training.
    """

    def __init__(
        self, cell: TreeLSTMCell, encode: Encoder, num_classes: int, dropout: float
    ) -> None:
        super().__init__(name="node_classifier")
        self.cell = cell
        self._encode = encode
        self._dropout = dropout
        glorot = tf.keras.initializers.GlorotUniform()
        self._weights = tf.Variable(glorot([cell.hidden, num_classes]), name="weights")
        self._bias = tf.Variable(tf.zeros([num_classes]), name="bias")

    def __call__(self, forest: Forest, training: bool) -> tf.Tensor:
        """Returns logits, float32[num_nodes, num_classes]."""
        _, h = self._encode(forest, self.cell)
        if training and self._dropout:
            h = tf.nn.dropout(h, self._dropout)
        return tf.matmul(h, self._weights) + self._bias
