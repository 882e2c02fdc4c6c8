"""The processes of a Slurm job step, as a cluster of TensorFlow.

TensorFlow's `SlurmClusterResolver` has a place for a task only where there is a GPU for
it, and takes hosts in the order of their names: node10 before node2.
"""

import os
import re
import subprocess

import tensorflow as tf

from recursive_tf.distribute.cluster import ClusterError

JOB = "worker"
# Of jobs that share a node, each has ports of its own: 100 tasks of 100 jobs.
FIRST_PORT, TASKS, JOBS = 20_000, 100, 100


def is_one_of_several() -> bool:
    """Whether Slurm started this process beside others in the same step."""
    return int(os.environ.get("SLURM_STEP_NUM_TASKS", "1")) > 1


def resolver() -> tf.distribute.cluster_resolver.ClusterResolver:
    """Returns what knows of the tasks of this step: all are workers, by their rank.

    Raises:
        ClusterError: If ranks are in another order, or hosts are not known.
    """
    tasks = _tasks_of_nodes(os.environ["SLURM_STEP_TASKS_PER_NODE"])
    hosts = _hosts(os.environ["SLURM_STEP_NODELIST"])
    places = [
        (node, task) for node, number in enumerate(tasks) for task in range(number)
    ]
    rank = int(os.environ["SLURM_PROCID"])
    here = (int(os.environ["SLURM_NODEID"]), int(os.environ["SLURM_LOCALID"]))
    if places[rank] != here:
        raise ClusterError(
            f"Task {rank} is task {here[1]} of node {here[0]}. Let Slurm fill one node "
            "after the other: srun --distribution=block."
        )
    port = FIRST_PORT + TASKS * (int(os.environ["SLURM_JOB_ID"]) % JOBS)
    addresses = [f"{hosts[node]}:{port + task}" for node, task in places]
    return tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec({JOB: addresses}), task_type=JOB, task_id=rank
    )


def _hosts(nodes: str) -> list[str]:
    """Returns the names of nodes that Slurm writes as `node[1-3,7]`."""
    command = ["scontrol", "show", "hostnames", nodes]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ClusterError(
            f"{' '.join(command)} does not say which hosts these are: {error}. Run "
            "that command on this node to see why, or set TF_CONFIG instead."
        ) from None
    return done.stdout.split()


def _tasks_of_nodes(numbers: str) -> list[int]:
    """Returns how many tasks each node has.

    >>> _tasks_of_nodes("4(x2),1")
    [4, 4, 1]
    """
    found = re.findall(r"(\d+)(?:\(x(\d+)\))?", numbers)
    return [int(tasks) for tasks, nodes in found for _ in range(int(nodes or 1))]
