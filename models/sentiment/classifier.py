"""A label for every node of a tree, from the node's h."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.data import Forest

BINARY = 2


@keras.saving.register_keras_serializable("recursive_tf_models")
class NodeClassifier(keras.Model):
    """Softmax regression on h of every node.

    The encoder is a recursion over nodes; the classifier stands outside of it and runs
    once for all nodes. Dropout is on its input, as in Tai et al. (2015).

    Labels are in the forests: `fit` takes a dataset of these alone. The loss is the
    cross-entropy, summed over a tree's nodes, the mean over trees, and in training the
    weight decay of all variables but the embedding. Nodes labeled -1 do not count.

    Labels are from the most negative to the most positive; with an odd number of them
    the middle one is neutral. Metrics: `nodes`, the share of all nodes whose label is
    right; `root_fine`, of roots; `root_binary`, of roots that are not neutral, the
    share that is on the right side, by the sums of either side's probabilities.
    """

    def __init__(
        self,
        encoder: Any,
        classes: int,
        dropout: float = 0.0,
        l2: float = 0.0,
        **kwargs: Any,
    ) -> None:
        """Makes the model.

        Args:
            encoder: A layer over forests that returns h of all nodes.
            classes: The number of labels.
            dropout: The share of h that is hidden in training.
            l2: The factor of half the sum of squares.
            **kwargs: As of `keras.Model`.
        """
        super().__init__(**kwargs)
        self.encoder = encoder
        self.classes = classes
        self.dropout = keras.layers.Dropout(dropout)
        self.l2 = l2
        self.logits = keras.layers.Dense(classes, name="logits")
        names = ("nodes", "root_binary", "root_fine")
        self._shares = {
            name: keras.metrics.Mean(name)
            for name in names
            if name != "root_fine" or classes > BINARY
        }

    def build(self, forest_shape: Any = None) -> None:
        """Makes all variables."""
        self.encoder.build(forest_shape)
        h = self.encoder.compute_output_spec(rtf.layers.ForestInput())
        self.logits.build(h.shape)
        self.built = True

    def build_from_config(self, config: dict[str, Any]) -> None:
        """Makes all variables, of a model that is loaded."""
        self.build()

    def call(self, forest: Forest, training: bool | None = None) -> tf.Tensor:
        """Returns logits, [num_nodes, classes]."""
        return self.logits(self.dropout(self.encoder(forest), training=training))

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> tf.Tensor:
        """Returns the loss of a batch, `x`, with logits `y_pred`."""
        is_known = x.labels >= 0
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            tf.where(is_known, x.labels, 0), y_pred
        )
        total = tf.reduce_sum(tf.where(is_known, losses, 0))
        if training and self.l2:
            total += tf.cast(x.num_trees, total.dtype) * self._penalty()
        return rtf.distribute.mean_over_trees(total, x.num_trees)

    def _penalty(self) -> tf.Tensor:
        words = {variable.path for variable in self.encoder.embedding.variables}
        others = [v for v in self.trainable_variables if v.path not in words]
        return self.l2 * tf.add_n([tf.nn.l2_loss(v) for v in others])

    def compute_metrics(
        self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None
    ) -> dict[str, Any]:
        """Counts a batch in, and returns the metrics."""
        self._count("nodes", self._is_right(x.labels, y_pred), x.labels >= 0)
        labels, logits = tf.gather(x.labels, x.roots), tf.gather(y_pred, x.roots)
        if "root_fine" in self._shares:
            self._count("root_fine", self._is_right(labels, logits), labels >= 0)
        side, predicted = self._side(labels), self._predicted_side(logits)
        has_side = tf.logical_and(labels >= 0, side != 0)
        self._count("root_binary", side == predicted, has_side)
        return self.get_metrics_result()

    def _count(self, name: str, is_right: tf.Tensor, counts: tf.Tensor) -> None:
        self._shares[name].update_state(
            tf.cast(is_right, tf.float32), tf.cast(counts, tf.float32)
        )

    def _is_right(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        return labels == tf.argmax(logits, -1, labels.dtype)

    def _side(self, labels: tf.Tensor) -> tf.Tensor:
        """Returns -1, 0 or 1: on which side of the middle a label is."""
        return tf.sign(2 * labels - (self.classes - 1))

    def _predicted_side(self, logits: tf.Tensor) -> tf.Tensor:
        sides = self._side(tf.range(self.classes))
        weights = tf.nn.softmax(logits) * tf.cast(sides, logits.dtype)
        return tf.cast(tf.sign(tf.reduce_sum(weights, -1)), sides.dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the model."""
        config: dict[str, Any] = super().get_config()
        return config | {
            "encoder": keras.saving.serialize_keras_object(self.encoder),
            "classes": self.classes,
            "dropout": self.dropout.rate,
            "l2": self.l2,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], **_: Any) -> NodeClassifier:
        """Returns the model that these arguments make."""
        encoder = keras.saving.deserialize_keras_object(config["encoder"])
        return cls(**(config | {"encoder": encoder}))
