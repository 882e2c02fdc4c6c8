"""What a model of trees is measured by, besides its loss."""

import keras
import tensorflow as tf


class Perplexity(keras.metrics.Mean):
    """The exponential of the mean negative log-likelihood of a word."""

    def result(self) -> tf.Tensor:
        """Returns it, of all words so far."""
        return tf.exp(super().result())
