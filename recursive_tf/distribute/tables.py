"""Rows of variables that replicas have copies of, or that other processes hold."""

from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat


def gather_rows(variable: Any, indices: tf.Tensor) -> tf.Tensor:
    """Returns rows of a variable, without a read of all of it.

    As `tf.gather`, which reads all of a variable that replicas have copies of.

    Args:
        variable: A `tf.Variable`, or what stands for the copies of all replicas.
        indices: Integers, of any shape.
    """
    if tf.distribute.in_cross_replica_context():
        return tf.gather(variable, indices)  # There is no copy that is this one's.
    return tf.gather(tf_compat.of_this_replica(variable), indices)


def is_in_another_process(variable: Any) -> bool:
    """Says whether another process, a parameter server, holds a variable."""
    return tf_compat.is_in_another_process(variable)
