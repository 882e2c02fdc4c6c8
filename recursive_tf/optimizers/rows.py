"""The rows of a table that a step uses."""

from typing import Any

import tensorflow as tf

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
