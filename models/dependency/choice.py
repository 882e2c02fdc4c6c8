"""How a word, and whether it has an edge, is chosen of the model's probabilities."""

from typing import Protocol

import tensorflow as tf


class Choice(Protocol):
    """What decides, in a recursion."""

    def word(self, logits: tf.Tensor) -> tf.Tensor:
        """Returns a word, int32, by the logits of all."""

    def edges(self, logits: tf.Tensor) -> tf.Tensor:
        """Returns which edges there are, bool[4], by the logits that each is there."""


class Greedy:
    """Chooses what is likeliest, word by word and edge by edge."""

    def word(self, logits: tf.Tensor) -> tf.Tensor:
        """Returns the likeliest word."""
        return tf.argmax(logits, output_type=tf.int32)

    def edges(self, logits: tf.Tensor) -> tf.Tensor:
        """Returns which edges are likelier there than not."""
        return logits > 0


class Sampled:
    """Draws as probable as the model says.

    Each invocation draws its own numbers, by its path: so both executors draw the same.

    The logits of the two may differ in their last bits, because a product of many rows
    adds up in another order. A word is the largest of logits with Gumbel noise
    (Gumbel, 1954), so that matters only where two words are as close as that. If one
    number were looked up among the sums of probabilities, it would be as if the errors
    of all words were added up: one of 250 trees of the Stanford Sentiment Treebank's
    9,000 words was another one.
    """

    def __init__(self, random: tf.random.Generator) -> None:
        self._random = random

    def word(self, logits: tf.Tensor) -> tf.Tensor:
        """Returns a drawn word."""
        drawn = self._random.uniform(tf.shape(logits), dtype=logits.dtype)
        noise = -tf.math.log(-tf.math.log(drawn))
        return tf.argmax(logits + noise, output_type=tf.int32)

    def edges(self, logits: tf.Tensor) -> tf.Tensor:
        """Returns drawn edges."""
        return self._random.uniform([4], dtype=logits.dtype) < tf.sigmoid(logits)
