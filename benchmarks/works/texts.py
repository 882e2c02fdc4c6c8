"""Sentences of words of characters as flat arrays, and batches of them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np

from benchmarks.works.rows import rows_of, starts

# Of words, and of characters: others have the last number.
VOCABULARY, CHARACTERS = 20_000, 256
# The number of a word is a sum of its characters, each with one of these weights.
_WEIGHTS = 31 ** np.arange(5, dtype=np.int32)


@dataclasses.dataclass(frozen=True)
class Texts:
    """Sentences, one after the other; neither a word nor a sentence is empty.

    Attributes:
        characters: int32[num_characters].
        lengths: int32[num_words]: how many characters each word has.
        sizes: int32[num_sentences]: how many words each sentence has.
    """

    characters: np.ndarray
    lengths: np.ndarray
    sizes: np.ndarray

    @staticmethod
    def of(sentences: Sequence[Sequence[Sequence[int]]]) -> Texts:
        """Returns sentences of words of the numbers of characters."""
        words = [word for sentence in sentences for word in sentence]
        return Texts(
            np.array([c for word in words for c in word], np.int32),
            np.array([len(word) for word in words], np.int32),
            np.array([len(sentence) for sentence in sentences], np.int32),
        )

    def __len__(self) -> int:
        return len(self.sizes)

    @functools.cached_property
    def words(self) -> np.ndarray:
        """A number for each word, int32[num_words], which its characters decide."""
        first = starts(self.lengths)
        places = np.arange(len(self.characters)) - np.repeat(first, self.lengths)
        weighted = self.characters * _WEIGHTS[places % len(_WEIGHTS)]
        return np.add.reduceat(weighted, first, dtype=np.int32) % VOCABULARY

    def batch(self, sentences: np.ndarray) -> Batch:
        """Returns some sentences, in their order.

        Args:
            sentences: int[batch size]: the numbers of the sentences.
        """
        words = rows_of(self._first_words, self.sizes, sentences)
        characters = rows_of(self._first_characters, self.lengths, words)
        return Batch(
            words=self.words[words],
            sizes=self.sizes[sentences],
            characters=self.characters[characters],
            lengths=self.lengths[words],
        )

    @functools.cached_property
    def _first_words(self) -> np.ndarray:
        return starts(self.sizes)

    @functools.cached_property
    def _first_characters(self) -> np.ndarray:
        return starts(self.lengths)


@dataclasses.dataclass(frozen=True)
class Batch:
    """Some sentences, one after the other.

    Attributes:
        words: int32[num_words]: their numbers.
        sizes: int32[num_sentences]: how many words each sentence has.
        characters: int32[num_characters]: those of all words.
        lengths: int32[num_words]: how many characters each word has.
    """

    words: np.ndarray
    sizes: np.ndarray
    characters: np.ndarray
    lengths: np.ndarray


def padded(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Returns a row for each part of the values, with zeros after it.

    >>> padded(np.array([5, 6, 7]), np.array([2, 1]))
    array([[5, 6],
           [7, 0]])
    """
    rows = np.zeros((len(sizes), sizes.max()), values.dtype)
    rows[np.arange(rows.shape[1]) < sizes[:, None]] = values
    return rows
