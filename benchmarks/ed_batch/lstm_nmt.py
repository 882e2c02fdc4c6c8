"""An LSTM encoder and decoder (Sutskever et al. 2014), as long as the decoder likes.

The decoder goes on from the word that it finds most likely, until that is the end of
the sentence. So computed values decide how long a translation is.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.ed_batch import sentences
from benchmarks.ed_batch.workload import Workload
from benchmarks.works.lstm_nmt import END, LONGEST, TARGET_WORDS
from benchmarks.works.texts import VOCABULARY


class Translator(keras.layers.Layer):
    """From sentences to the last outputs of their translations."""

    def __init__(self, units: int, **choices: Any) -> None:
        super().__init__()
        self.units = units
        self.choices = choices
        self.words = keras.layers.Embedding(VOCABULARY, units)
        self.encoder = keras.layers.LSTMCell(units)
        self.target_words = keras.layers.Embedding(TARGET_WORDS, units)
        self.decoder = keras.layers.LSTMCell(units)
        self.scores = keras.layers.Dense(TARGET_WORDS)

    def build(self, _: Any) -> None:
        """Makes the weights."""
        for layer in (self.words, self.target_words):
            layer.build(())
        for layer in (self.encoder, self.decoder, self.scores):
            layer.build((None, self.units))

    def call(self, words: tf.RaggedTensor) -> tf.Tensor:
        """Returns [sentences, units]."""
        splits = tf.cast(words.row_splits, tf.int32)
        vectors = self.words(words.values)
        translate = self._define(vectors)
        return translate.map(splits[:-1], splits[1:] - 1)

    def _define(self, vectors: tf.Tensor) -> rtf.SubGraph:
        state = [tf.TensorSpec([self.units], tf.float32)] * 2
        encode = rtf.SubGraph("encode", output_signature=state, **self.choices)
        with encode:
            first, word = encode.input(tf.int32), encode.input(tf.int32)
            before = tf.cond(
                word == first,
                lambda: [tf.zeros([self.units])] * 2,
                lambda: list(encode(first, word - 1)),
            )
            encode.output(_step(self.encoder, tf.gather(vectors, word), before))
        decode = rtf.SubGraph("decode", output_signature=state[0], **self.choices)
        with decode:
            word, length = decode.input(tf.int32), decode.input(tf.int32)
            before = [decode.input(spec) for spec in state]
            h, c = _step(self.decoder, self.target_words(word), before)
            likely = tf.argmax(self.scores(h[tf.newaxis])[0], output_type=tf.int32)
            is_end = (likely == END) | (length == LONGEST)
            decode.output(
                tf.cond(is_end, lambda: h, lambda: decode(likely, length + 1, h, c))
            )
        with rtf.SubGraph("translate", **self.choices) as translate:
            first, last = translate.input(tf.int32), translate.input(tf.int32)
            translate.output(decode(END, 0, *encode(first, last)))
        return translate


def _step(cell: Any, x: tf.Tensor, state: Any) -> list[tf.Tensor]:
    """Returns h and c of an LSTM's next step."""
    _, (h, c) = cell(x[tf.newaxis], [each[tf.newaxis] for each in state])
    return [h[0], c[0]]


WORKLOAD = Workload("LSTM NMT", Translator, sentences.batches_of_words)
