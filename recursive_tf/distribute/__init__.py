"""Data-parallel training with the strategies of `tf.distribute`.

TensorFlow moves gradients and keeps replicas alike; what is here is what trees need
besides: shards of equal work, losses that do not depend on how trees are shared, and
Keras's `fit`. See docs/distributed.md.
"""

from recursive_tf.distribute.additions import add_at_once
from recursive_tf.distribute.cluster import (
    ClusterError,
    leave_cluster,
    wait_for_cluster,
)
from recursive_tf.distribute.fit import enable_fit
from recursive_tf.distribute.losses import mean_over_trees
from recursive_tf.distribute.shards import shards
from recursive_tf.distribute.sums import sum_over_replicas

__all__ = [
    "ClusterError",
    "add_at_once",
    "enable_fit",
    "leave_cluster",
    "mean_over_trees",
    "shards",
    "sum_over_replicas",
    "wait_for_cluster",
]
