"""Data-parallel training with the strategies of `tf.distribute`.

TensorFlow moves gradients and keeps replicas alike; what is here is what trees need
besides: shards of equal work, losses that do not depend on how trees are shared, and
Keras's `fit`; and a strategy by its name, with the processes of a cluster on this
machine. See docs/distributed.md.
"""

from recursive_tf.distribute.additions import add_at_once
from recursive_tf.distribute.cluster import (
    ClusterError,
    leave_cluster,
    wait_for_cluster,
)
from recursive_tf.distribute.distribution import (
    STRATEGIES,
    Distribution,
    jobs_of,
    make_distribution,
)
from recursive_tf.distribute.fit import enable_fit
from recursive_tf.distribute.local_cluster import FailedTask, Host, run_cluster
from recursive_tf.distribute.losses import mean_over_trees
from recursive_tf.distribute.lost import naming_lost
from recursive_tf.distribute.resolver import cluster_resolver, is_in_cluster, leads
from recursive_tf.distribute.shards import shards
from recursive_tf.distribute.sums import sum_over_replicas

__all__ = [
    "STRATEGIES",
    "ClusterError",
    "Distribution",
    "FailedTask",
    "Host",
    "add_at_once",
    "cluster_resolver",
    "enable_fit",
    "is_in_cluster",
    "jobs_of",
    "leads",
    "leave_cluster",
    "make_distribution",
    "mean_over_trees",
    "naming_lost",
    "run_cluster",
    "shards",
    "sum_over_replicas",
    "wait_for_cluster",
]
