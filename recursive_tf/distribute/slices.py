"""Slices of a table of which several may be of one row."""

from typing import Any

import tensorflow as tf


def added_up(gradient: Any) -> Any:
    """Returns slices with each row once: the sum of what there was of it.

    Several slices of a row are parts of one gradient. What squares each of them takes
    a word that occurs twice for two.

    Args:
        gradient: `tf.IndexedSlices`; anything else is returned as it is.
    """
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    indices, places = tf.unique(gradient.indices)
    rows = tf.math.unsorted_segment_sum(gradient.values, places, tf.size(indices))
    return tf.IndexedSlices(rows, indices, gradient.dense_shape)
