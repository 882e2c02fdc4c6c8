"""How well logits agree with labels, at every node and at the roots."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from recursive_tf.data import Forest


class Scores(NamedTuple):
    """Sums over the nodes and trees of one batch, or of many."""

    loss: float | tf.Tensor
    correct_nodes: float | tf.Tensor
    nodes: float | tf.Tensor
    correct_roots: float | tf.Tensor
    trees: float | tf.Tensor

    @property
    def loss_per_tree(self) -> float | tf.Tensor:
        """Cross-entropy, summed over a tree's nodes, mean over trees."""
        return self.loss / self.trees

    @property
    def node_accuracy(self) -> float | tf.Tensor:
        """The share of all nodes with the right label."""
        return self.correct_nodes / self.nodes

    @property
    def root_accuracy(self) -> float | tf.Tensor:
        """The share of trees whose root has the right label."""
        return self.correct_roots / self.trees


NO_SCORES = Scores(0.0, 0.0, 0.0, 0.0, 0.0)


def score(forest: Forest, logits: tf.Tensor) -> Scores:
    """Compares logits with labels; the loss is cross-entropy, summed over nodes."""
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(forest.labels, logits)
    predicted = tf.argmax(logits, axis=-1, output_type=tf.int32)
    correct = tf.cast(predicted == forest.labels, tf.float32)
    return Scores(
        tf.reduce_sum(losses),
        tf.reduce_sum(correct),
        tf.cast(forest.num_nodes, tf.float32),
        tf.reduce_sum(tf.gather(correct, forest.roots)),
        tf.cast(tf.size(forest.roots), tf.float32),
    )


def total(parts: Sequence[Scores]) -> Scores:
    """Returns the sums over several batches, as Python numbers."""
    return Scores(*np.sum(np.array(parts, np.float64), axis=0).tolist())
