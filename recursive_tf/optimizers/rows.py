"""The rows of a table that a step uses."""

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


# By the handle, which is that of this replica: what stands for the variables of all
# replicas would be read as a whole.


def read(table: Any, indices: tf.Tensor) -> tf.Tensor:
    """Returns some rows of a Keras variable."""
    variable = table.value
    return tf.raw_ops.ResourceGather(
        resource=variable.handle, indices=indices, dtype=variable.dtype
    )


def write(table: Any, indices: tf.Tensor, rows: tf.Tensor) -> None:
    """Sets some rows of a Keras variable."""
    tf.raw_ops.ResourceScatterUpdate(
        resource=table.value.handle, indices=indices, updates=rows
    )
