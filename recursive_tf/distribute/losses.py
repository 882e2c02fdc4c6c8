"""Losses that are the same however trees are shared among replicas."""

from typing import Any

import tensorflow as tf

from recursive_tf.distribute.sums import sum_over_replicas


def mean_over_trees(total: tf.Tensor, num_trees: Any) -> tf.Tensor:
    """Returns the loss of a replica's trees, for `compute_loss` of a `keras.Model`.

    Its gradients, summed over all replicas, are those of the mean over all trees. This
    holds even if replicas have different numbers of trees, or none. So N replicas learn
    what one replica learns that has all trees. The mean that Keras reports is this
    mean, too.

    Keras's own losses are means of the replicas' means. That is the same only if all
    replicas have the same number of trees.

    >>> float(mean_over_trees(tf.constant(6.0), 3))
    2.0

    Args:
        total: A scalar, the sum of the losses of the replica's trees.
        num_trees: How many these are, an integer scalar.
    """
    count = tf.cast(num_trees, total.dtype)
    context = tf.distribute.get_replica_context()
    replicas = 1 if context is None else context.num_replicas_in_sync
    if replicas == 1:
        return total / count
    to_learn = total / sum_over_replicas(count)
    # Keras multiplies it by the replicas and weighs it by this replica's trees.
    to_report = tf.math.divide_no_nan(total, count * replicas)
    return to_learn + tf.stop_gradient(to_report - to_learn)
