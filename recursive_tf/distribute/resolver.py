"""Which cluster this process is in, and whether it leads it."""

from __future__ import annotations

import json
import os
from typing import Any

import tensorflow as tf

from recursive_tf.distribute import slurm
from recursive_tf.distribute.cluster import not_json


def cluster_resolver() -> Any:
    """Returns what knows of the cluster that this process is in, or None.

    `TF_CONFIG` is what TensorFlow's own and most schedulers set. Slurm has variables of
    its own in each task that `srun` starts; all tasks of a step are workers, in the
    order of their ranks.

    Raises:
        ClusterError: If `TF_CONFIG` is not JSON, or Slurm does not say where tasks are.
    """
    if config := os.environ.get("TF_CONFIG"):
        try:
            json.loads(config)
        except ValueError as error:
            raise not_json(error) from None
        return tf.distribute.cluster_resolver.TFConfigClusterResolver()
    return slurm.resolver() if slurm.is_one_of_several() else None


def is_in_cluster() -> bool:
    """Whether there is a cluster around this process, for `cluster_resolver` to find.

    That is by the environment alone, so a training of this process by itself may be in
    one, too.
    """
    return bool(os.environ.get("TF_CONFIG")) or slurm.is_one_of_several()


def leads(resolver: Any) -> bool:
    """Returns whether a process is in no cluster, or is its chief.

    Args:
        resolver: What `cluster_resolver` returned in this process.
    """
    if resolver is None or resolver.task_type == "chief":
        return True
    has_chief = "chief" in resolver.cluster_spec().jobs
    is_first = (resolver.task_type, resolver.task_id) == ("worker", 0)
    return is_first and not has_chief
