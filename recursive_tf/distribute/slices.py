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


def values_of(gradient: Any) -> Any:
    """Returns the rows of `tf.IndexedSlices`; anything else is returned as it is."""
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


def with_values(gradient: Any, values: Any) -> Any:
    """Returns a gradient with other values, for the rows that it is of.

    Args:
        gradient: `tf.IndexedSlices`, or anything else.
        values: What is returned, if the gradient is anything else.
    """
    if not isinstance(gradient, tf.IndexedSlices):
        return values
    return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
