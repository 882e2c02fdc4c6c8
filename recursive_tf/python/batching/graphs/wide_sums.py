"""Sums of 16-bit numbers, as TensorFlow's: in float32, and rounded once."""

import tensorflow as tf

_NARROW = (tf.bfloat16, tf.float16)


def widened(tensor: tf.Tensor) -> tf.Tensor:
    """Returns what is to be added up, as what that is done in."""
    return tf.cast(tensor, tf.float32) if tensor.dtype in _NARROW else tensor


def sum_by_segment(
    values: tf.Tensor, segments: tf.Tensor, num_segments: int
) -> tf.Tensor:
    """Returns the sum of the values of each segment.

    A sum of lists is one over an axis in TensorFlow, which adds up in float32; its
    sums of segments, which count on few values each, do not.
    """
    total = tf.math.unsorted_segment_sum(widened(values), segments, num_segments)
    return tf.cast(total, values.dtype)
