"""The model: scores of words and edges, the loss, metrics, and generation."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

import recursive_tf as rtf
from models.dependency.cells import NO_WORD, LeftCell, PathCell
from models.dependency.edges import edges_of
from models.dependency.metrics import Perplexity
from models.dependency.scoring import states_of
from recursive_tf.data import Forest


@keras.saving.register_keras_serializable("recursive_tf_models")
class DependencyModel(keras.Model):
    """A probability for every dependency tree, top-down.

    Of each word follow, from its state, which word it is, and then which of the four
    types of edges it has: see `rtf.layers.TDTreeLSTMCell`, `models.dependency.edges`
    and, for what a state follows from, `models.dependency.cells`.

    `fit` takes a dataset of forests alone, with words as integers, their nodes in the
    order of the sentence, and `children`. The loss is the negative log-likelihood of
    words and edges of a tree, the mean over trees. Metrics: `perplexity`, of words;
    `edges`, the share of edges whose existence is decided rightly.
    """

    def __init__(
        self,
        units: int,
        vocabulary: int,
        dropout: float = 0.0,
        left_dependents: bool = False,
        executor: str = "auto",
        **kwargs: Any,
    ) -> None:
        """Makes the model, with its variables.

        Args:
            units: The length of h, of c and of a word's vector.
            vocabulary: How many words there are, no word (0) among them.
            dropout: The share of h and of words' vectors that is hidden in training.
            left_dependents: Whether a word's dependents on the right follow from those
                on its left too: LdTreeLSTM. Then these are made before them.
            executor: What runs the recursion.
            **kwargs: As of `keras.Model`.
        """
        super().__init__(**kwargs)
        make_cell = LeftCell if left_dependents else PathCell
        self.cell = make_cell(
            units, vocabulary, dropout=dropout, dtype=self.dtype_policy
        )
        self.dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy)
        self.executor = executor
        self._perplexity = Perplexity("perplexity")
        self._edges = keras.metrics.Mean("edges")
        self.built = True

    def build_from_config(self, config: dict[str, Any]) -> None:
        """Does nothing: the variables are there."""

    def call(self, forest: Forest, training: bool | None = None) -> dict[str, Any]:
        """Returns logits of `words`, [num_nodes, vocabulary], and `edges`, [..., 4].

        Softmax over the vocabulary, most of the work, is for all words at once.
        """
        h = states_of(forest, edges_of(forest), self.cell, self.executor)
        h = self.dropout(h, training=training)
        return {
            "words": self.word_logits(h),
            "edges": self.edge_logits(h, forest.tokens),
        }

    def word_logits(self, h: tf.Tensor) -> tf.Tensor:
        """Returns logits of words, [..., vocabulary], for h, [..., units]."""
        is_word = tf.range(self.cell.vocabulary) != NO_WORD
        return tf.where(is_word, self.cell.of_word(h), h.dtype.min)

    def edge_logits(self, h: tf.Tensor, words: tf.Tensor) -> tf.Tensor:
        """Returns logits of edges, [..., 4], for h, [..., units], and words, [...]."""
        both = tf.concat([h, rtf.layers.look_up(self.cell.embedding, words)], -1)
        return self.cell.of_edges(self.cell.hidden(both))

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> tf.Tensor:
        """Returns the loss of a batch, `x`, with the logits `y_pred`."""
        edges = edges_of(x)
        exist = tf.cast(edges.exist, y_pred["edges"].dtype)
        of_edges = tf.nn.sigmoid_cross_entropy_with_logits(exist, y_pred["edges"])
        of_edges = tf.where(edges.may_exist, of_edges, 0)
        total = tf.reduce_sum(_of_words(x, y_pred)) + tf.reduce_sum(of_edges)
        return rtf.distribute.mean_over_trees(total, x.num_trees)

    def compute_metrics(
        self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None
    ) -> dict[str, Any]:
        """Counts a batch in, and returns the metrics."""
        edges = edges_of(x)
        is_right = (y_pred["edges"] > 0) == edges.exist
        self._edges.update_state(
            tf.cast(is_right, tf.float32), tf.cast(edges.may_exist, tf.float32)
        )
        self._perplexity.update_state(_of_words(x, y_pred))
        return self.get_metrics_result()

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the model."""
        config: dict[str, Any] = super().get_config()
        return config | {
            "units": self.cell.units,
            "vocabulary": self.cell.vocabulary,
            "dropout": self.dropout.rate,
            "left_dependents": isinstance(self.cell, LeftCell),
            "executor": self.executor,
        }


def _of_words(forest: Forest, y_pred: dict[str, tf.Tensor]) -> tf.Tensor:
    """Returns the negative log-likelihood of every word, [num_nodes]."""
    return tf.nn.sparse_softmax_cross_entropy_with_logits(
        forest.tokens, y_pred["words"]
    )
