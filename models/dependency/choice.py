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
    """

    def __init__(self, random: tf.random.Generator) -> None:
        self._random = random

    def word(self, logits: tf.Tensor) -> tf.Tensor:
        """Returns a drawn word: one number is drawn, and found among all."""
        ends = tf.cumsum(tf.nn.softmax(logits))
        drawn = self._random.uniform([], dtype=ends.dtype) * ends[-1]
        return tf.reduce_sum(tf.cast(ends <= drawn, tf.int32))

    def edges(self, logits: tf.Tensor) -> tf.Tensor:
        """Returns drawn edges."""
        return self._random.uniform([4], dtype=logits.dtype) < tf.sigmoid(logits)
