"""The baselines' probabilities are those of their formulas."""

import numpy as np
import pytest
import tensorflow as tf

from models.dependency.baselines import Bigram, Unigram, perplexity
from recursive_tf.data import Forest
from tests.models.dependency.sentences import VOCABULARY, sentences


def pair(head, word):
    """Returns a tree of a word and its dependent."""
    children = tf.ragged.constant([[1], []], dtype=tf.int32)
    return Forest(tokens=[head, word], children=children, roots=[0], sizes=[2])


def test_a_unigram_is_the_share_of_a_word():
    unigram = Unigram(sentences(), VOCABULARY)
    # Words 1 and 2 twice of ten, and each of eight words once more.
    np.testing.assert_allclose(unigram.probabilities(pair(1, 3)), [3 / 18, 2 / 18])


def test_a_bigram_is_the_share_below_a_head_smoothed():
    bigram = Bigram(sentences(), VOCABULARY)
    # Word 4 has three different dependents, one of which is 3; no word has 2 roots.
    expected = [(1 + 2 * 2 / 18) / 4, (1 + 3 * 2 / 18) / 6]
    np.testing.assert_allclose(bigram.probabilities(pair(4, 3)), expected)


def test_a_head_that_is_new_says_nothing():
    bigram = Bigram(sentences(), VOCABULARY)
    np.testing.assert_allclose(bigram.probabilities(pair(6, 7))[1], 2 / 18)


@pytest.mark.parametrize("baseline", [Unigram, Bigram])
def test_probabilities_of_all_words_add_up_to_one(baseline):
    found = baseline(sentences(), VOCABULARY)
    for head in (4, 6):
        total = sum(
            found.probabilities(pair(head, word))[1] for word in range(1, VOCABULARY)
        )
        np.testing.assert_allclose(total, 1)


def test_perplexity_is_the_inverse_of_the_geometric_mean():
    trees = sentences()
    unigram = Unigram(trees, VOCABULARY)
    mean = np.prod(unigram.probabilities(trees)) ** (1 / 10)
    np.testing.assert_allclose(perplexity(unigram, trees), 1 / mean)
