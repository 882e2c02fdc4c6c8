"""A BiLSTM that tags words, which another makes of characters (Ling et al. 2015)."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.ed_batch import sentences
from benchmarks.ed_batch.workload import Workload
from benchmarks.works.bilstm_tagger import TAGS
from benchmarks.works.texts import CHARACTERS


class BiLSTMCharTagger(keras.layers.Layer):
    """From sentences to scores of the tags of their words."""

    def __init__(self, units: int, **choices: Any) -> None:
        super().__init__()
        self.characters = keras.layers.Embedding(CHARACTERS, units)
        of_words, of_sentences = (
            [keras.layers.LSTMCell(units) for _ in range(2)] for _ in range(2)
        )
        self.word_encoder = rtf.layers.SequenceEncoder(
            *of_words, return_sequences=False, **choices
        )
        self.encoder = rtf.layers.SequenceEncoder(*of_sentences, **choices)
        self.tags = keras.layers.Dense(TAGS)

    def call(self, characters: tf.RaggedTensor) -> tf.Tensor:
        """Returns [words, tags], of all sentences."""
        of_words = characters.values
        vectors = of_words.with_values(self.characters(of_words.values))
        words = characters.with_values(self.word_encoder(vectors))
        return self.tags(self.encoder(words).values)


WORKLOAD = Workload(
    "BiLSTM tagger, characters", BiLSTMCharTagger, sentences.batches_of_characters
)
