"""What a model of trees is to beat: probabilities of words by counts."""

import numpy as np

from models.dependency.cells import NO_WORD
from models.dependency.edges import NONE, heads_of
from recursive_tf.data import Forest


class Unigram:
    """The probability of a word: its share of all, each of which counts once more."""

    def __init__(self, trees: Forest, vocabulary: int) -> None:
        """Counts.

        Args:
            trees: Words as integers.
            vocabulary: How many words there are, no word (0) among them.
        """
        counts = np.bincount(trees.tokens.numpy(), minlength=vocabulary) + 1.0
        counts[NO_WORD] = 0
        self._shares = counts / counts.sum()

    def probabilities(self, trees: Forest) -> np.ndarray:
        """Returns the probability of every word of some trees."""
        return self._shares[trees.tokens.numpy()]


class Bigram:
    """The probability of a word after its head, smoothed by that of the word.

    p(w | h) = (c(h, w) + t(h) p(w)) / (c(h) + t(h)), with t(h) the number of different
    words below h (Witten and Bell, 1991). The head of a root is no word.
    """

    def __init__(self, trees: Forest, vocabulary: int) -> None:
        """Counts; arguments as of `Unigram`."""
        self._unigram = Unigram(trees, vocabulary)
        self._vocabulary = vocabulary
        self._pairs, self._counts = np.unique(self._keys(trees), return_counts=True)
        heads = self._pairs // vocabulary
        self._totals = np.bincount(heads, self._counts, minlength=vocabulary)
        self._types = np.bincount(heads, minlength=vocabulary)

    def probabilities(self, trees: Forest) -> np.ndarray:
        """Returns the probability of every word of some trees."""
        pairs = self._keys(trees)
        heads = pairs // self._vocabulary
        of_word = self._unigram.probabilities(trees)
        total, types = self._totals[heads], self._types[heads]
        # A head that is new has no dependents, nor types of them.
        seen = (self._count(pairs) + types * of_word) / np.maximum(total + types, 1)
        return np.where(total > 0, seen, of_word)

    def _count(self, pairs: np.ndarray) -> np.ndarray:
        """Returns how often each pair was there."""
        found = np.searchsorted(self._pairs, pairs)
        found = np.minimum(found, len(self._pairs) - 1)
        return np.where(self._pairs[found] == pairs, self._counts[found], 0)

    def _keys(self, trees: Forest) -> np.ndarray:
        """Returns a number for each pair of a head and a word."""
        words, heads = trees.tokens.numpy(), heads_of(trees).numpy()
        head_words = np.where(heads == NONE, NO_WORD, words[heads])
        return head_words.astype(np.int64) * self._vocabulary + words


def perplexity(baseline: Unigram | Bigram, trees: Forest) -> float:
    """Returns the perplexity of the words of some trees."""
    return float(np.exp(-np.log(baseline.probabilities(trees)).mean()))
