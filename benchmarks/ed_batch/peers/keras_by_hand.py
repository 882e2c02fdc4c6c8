"""Keras by hand: its LSTMs over padded sequences with masks, and a loop that decodes.

    python -m benchmarks.ed_batch.peers.keras_by_hand --model tagger.npz --batch 32

Both directions and masks are those of Keras.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf
from keras.layers import LSTM, Bidirectional, Dense, Embedding, LSTMCell

from benchmarks.ed_batch.peers.keras_steps import Steps
from benchmarks.peers import command
from benchmarks.works import texts
from benchmarks.works.bilstm_tagger import TAGS
from benchmarks.works.lstm_nmt import END, LONGEST, TARGET_WORDS
from benchmarks.works.texts import CHARACTERS, VOCABULARY, padded
from benchmarks.works.work import Work


class Tagger(keras.layers.Layer):
    """benchmarks/works/bilstm_tagger.py."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.words = Embedding(VOCABULARY, units)
        self.encoder = Bidirectional(LSTM(units, return_sequences=True))
        self.tags = Dense(TAGS)

    @staticmethod
    def inputs_of(batch: texts.Batch) -> list[tf.Tensor]:
        """Returns [sentences, words], and how many words each has."""
        words = padded(batch.words, batch.sizes)
        return [tf.constant(words), tf.constant(batch.sizes)]

    def call(self, words: tf.Tensor, sizes: tf.Tensor) -> tf.Tensor:
        """Returns [words, tags], of all sentences."""
        mask = _mask(words, sizes)
        states = self.encoder(self.words(words), mask=mask)
        return self.tags(tf.boolean_mask(states, mask))


class CharTagger(keras.layers.Layer):
    """benchmarks/works/bilstm_char_tagger.py."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.characters = Embedding(CHARACTERS, units)
        self.word_encoder = Bidirectional(LSTM(units))
        self.encoder = Bidirectional(LSTM(units, return_sequences=True))
        self.tags = Dense(TAGS)

    @staticmethod
    def inputs_of(batch: texts.Batch) -> list[tf.Tensor]:
        """Returns [words, characters], how many each has, and sentences' words."""
        characters = padded(batch.characters, batch.lengths)
        return [*map(tf.constant, (characters, batch.lengths, batch.sizes))]

    def call(
        self, characters: tf.Tensor, lengths: tf.Tensor, sizes: tf.Tensor
    ) -> tf.Tensor:
        """Returns [words, tags], of all sentences."""
        vectors = self.characters(characters)
        of_words = self.word_encoder(vectors, mask=_mask(characters, lengths))
        words = tf.RaggedTensor.from_row_lengths(of_words, sizes).to_tensor()
        mask = _mask(words, sizes)
        return self.tags(tf.boolean_mask(self.encoder(words, mask=mask), mask))


class Translator(keras.layers.Layer):
    """benchmarks/works/lstm_nmt.py."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units = units
        self.words = Embedding(VOCABULARY, units)
        self.encoder = LSTM(units, return_state=True)
        self.target_words = Embedding(TARGET_WORDS, units)
        self.decoder = LSTMCell(units)
        self.scores = Dense(TARGET_WORDS)

    def build(self, *_: Any) -> None:
        """Makes the weights, as a loop may not."""
        self.target_words.build(())
        for layer in (self.decoder, self.scores):
            layer.build((None, self.units))

    inputs_of = staticmethod(Tagger.inputs_of)

    def call(self, words: tf.Tensor, sizes: tf.Tensor) -> tf.Tensor:
        """Returns [sentences, units]."""
        vectors = self.words(words)
        _, h, c = self.encoder(vectors, mask=_mask(words, sizes))
        begin = tf.fill(tf.shape(sizes), END)
        _, h, *_ = tf.while_loop(
            lambda length, h, c, word, goes_on: tf.reduce_any(goes_on),
            self._decode,
            [0, h, c, begin, tf.ones_like(begin, tf.bool)],
            maximum_iterations=LONGEST + 1,
        )
        return h

    def _decode(
        self,
        length: tf.Tensor,
        h: tf.Tensor,
        c: tf.Tensor,
        word: tf.Tensor,
        goes_on: tf.Tensor,
    ) -> list[tf.Tensor]:
        """Makes a step of all sentences; those that ended keep their state."""
        _, (new_h, new_c) = self.decoder(self.target_words(word), [h, c])
        likely = tf.argmax(self.scores(new_h), -1, tf.int32)
        h, c = (
            tf.where(goes_on[:, tf.newaxis], new, old)
            for new, old in ((new_h, h), (new_c, c))
        )
        goes_on &= (likely != END) & (length < LONGEST)
        return [length + 1, h, c, likely, goes_on]


def _mask(rows: tf.Tensor, sizes: tf.Tensor) -> tf.Tensor:
    return tf.sequence_mask(sizes, tf.shape(rows)[1])


MODELS = {
    "bilstm_tagger": Tagger,
    "bilstm_char_tagger": CharTagger,
    "lstm_nmt": Translator,
}


def make(work: Work, optimizer: str) -> Steps:
    """Returns the system."""
    del optimizer  # Nothing is updated.
    model = MODELS[work.name](work.weights["embedding"].shape[1])
    return Steps(work, model, model.inputs_of)


def versions() -> dict[str, str]:
    """Says what the system is made with."""
    return {"tensorflow": tf.__version__, "keras": keras.__version__}


if __name__ == "__main__":
    command.main(make, versions)
