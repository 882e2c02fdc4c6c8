"""Words seen once are unknown words now and then, so that [UNK] has a vector."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from recursive_tf.data import Forest
from recursive_tf.training import Change

UNKNOWN = 1  # As `rtf.data.vocabulary` numbers words.


def hide_rare_words(train: Forest, vocabulary_size: int, share: float) -> Change:
    """Returns what makes some words of a batch unknown: those that occur once.

    No training tree has an unknown word, so its vector would stay as it began. A word
    that occurs once is the one most like those that nobody has seen.

    An epoch sees each of these words once. So it draws one number a word, whatever the
    batches are and whoever shares them.

    Args:
        train: All trees of an epoch, with words as integers.
        vocabulary_size: How many integers there are.
        share: The probability that such a word is unknown.
    """
    tokens = train.tokens.numpy()
    counts = np.bincount(tokens[tokens > UNKNOWN], minlength=vocabulary_size)
    is_rare = tf.constant(counts == 1)

    def change(batch: Forest, seed: tf.Tensor) -> Forest:
        drawn = tf.random.stateless_uniform([vocabulary_size], seed) < share
        is_hidden = tf.gather(tf.logical_and(is_rare, drawn), batch.tokens)
        return batch.replace(tokens=tf.where(is_hidden, UNKNOWN, batch.tokens))

    return change
