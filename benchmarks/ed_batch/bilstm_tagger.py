"""A BiLSTM that tags words (Huang et al. 2015)."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.ed_batch import sentences
from benchmarks.ed_batch.workload import Workload
from benchmarks.works.bilstm_tagger import TAGS
from benchmarks.works.texts import VOCABULARY


class BiLSTMTagger(keras.layers.Layer):
    """From sentences to scores of the tags of their words."""

    def __init__(self, units: int, **choices: Any) -> None:
        super().__init__()
        self.words = keras.layers.Embedding(VOCABULARY, units)
        cells = [keras.layers.LSTMCell(units) for _ in range(2)]
        self.encoder = rtf.layers.SequenceEncoder(*cells, **choices)
        self.tags = keras.layers.Dense(TAGS)

    def call(self, words: tf.RaggedTensor) -> tf.Tensor:
        """Returns [words, tags], of all sentences."""
        vectors = words.with_values(self.words(words.values))
        return self.tags(self.encoder(vectors).values)


WORKLOAD = Workload("BiLSTM tagger", BiLSTMTagger, sentences.batches_of_words)
