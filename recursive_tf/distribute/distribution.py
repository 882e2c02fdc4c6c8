"""A strategy by its name: how many replicas there are, and where they are."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import logging
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import tensorflow as tf

from recursive_tf.distribute import local_cluster
from recursive_tf.distribute.cluster import (
    ClusterError,
    serve_until_the_end,
    wait_for_cluster,
)
from recursive_tf.distribute.resolver import cluster_resolver, leads

STRATEGIES = ("none", "mirrored", "multi_worker", "parameter_server")
NONE, MIRRORED, MULTI_WORKER, PARAMETER_SERVER = STRATEGIES
NO_SERVER = "Could not start gRPC server"
LOG = logging.getLogger("recursive_tf.distribute")


@dataclasses.dataclass(frozen=True)
class Distribution:
    """What this process does in a training.

    Attributes:
        strategy: Of `tf.distribute`. Make the model in its scope.
        is_chief: Whether it is the process that writes what the training leaves.
        is_shared: Whether a step's trees are shared among replicas.
    """

    strategy: tf.distribute.Strategy
    is_chief: bool
    is_shared: bool


def jobs_of(strategy: str, num_workers: int) -> dict[str, int]:
    """Returns the tasks of a cluster for a strategy; the first one leads.

    >>> jobs_of("parameter_server", 2)
    {'chief': 1, 'worker': 2, 'ps': 1}

    Args:
        strategy: One of `STRATEGIES`. One that needs no cluster has no tasks.
        num_workers: How many take steps.
    """
    jobs = {
        NONE: {},
        MIRRORED: {},
        MULTI_WORKER: {"worker": num_workers},
        PARAMETER_SERVER: {"chief": 1, "worker": num_workers, "ps": 1},
    }
    _check_name(strategy)
    return jobs[strategy]


def make_distribution(
    strategy: str = NONE, num_workers: int = 1, timeout_s: float = 60.0
) -> Distribution:
    """Returns a strategy by its name, and what this process does in it.

    Call it before TensorFlow runs anything, e.g. before trees are read: devices and
    servers cannot be made later.

    With `"multi_worker"` and `"parameter_server"`, this process is one of the cluster
    of `TF_CONFIG` or of Slurm (see `cluster_resolver`), and it waits for the others. If
    it loses another one of them later, it logs which one, and ends.

    >>> make_distribution().is_shared
    False

    Args:
        strategy: `"none"`; `"mirrored"`, devices of this machine: GPUs, or else parts
            of the CPU; `"multi_worker"`, processes that take each step together; or
            `"parameter_server"`, processes that take steps of their own.
        num_workers: How many devices `"mirrored"` takes. The cluster says how many
            processes there are.
        timeout_s: How long to wait for other processes, in seconds.

    Raises:
        ClusterError: If they do not come, or the cluster lacks a task that leads, or
            one that holds variables.
        SystemExit: In a process that only serves others, when the chief has called
            `leave_cluster`; and in one that `run_cluster` started, if its port was
            taken.
        RuntimeError: If TensorFlow has used the devices already.
        ValueError: If there is no such strategy.
    """
    _check_name(strategy)
    if strategy == NONE:
        return Distribution(tf.distribute.get_strategy(), True, False)
    if strategy == MIRRORED:
        return Distribution(_mirrored(num_workers), True, True)
    local_cluster.end_with_the_starter()
    resolver = cluster_resolver()
    if strategy == PARAMETER_SERVER:
        _check_jobs(resolver, jobs_of(strategy, num_workers))
    with _listening(resolver):
        wait_for_cluster(resolver, timeout_s, _end_without)
        if strategy == MULTI_WORKER:
            workers = tf.distribute.MultiWorkerMirroredStrategy(resolver)
            return Distribution(workers, leads(resolver), True)
        if resolver.task_type in ("worker", "ps"):
            server = tf.distribute.Server(
                resolver.cluster_spec(),
                job_name=resolver.task_type,
                task_index=resolver.task_id,
                protocol=resolver.rpc_layer or "grpc",
                start=True,
            )
    if resolver.task_type in ("worker", "ps"):
        serve_until_the_end()
        del server
        sys.exit()
    return Distribution(tf.distribute.ParameterServerStrategy(resolver), True, False)


def _check_name(strategy: str) -> None:
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy={strategy!r}: choose one of {STRATEGIES}.")


def _end_without(why: str) -> None:
    """Ends this process, whose main thread may wait in TensorFlow for ever."""
    LOG.error("%s Then start all processes again.", why)
    os._exit(1)


@contextlib.contextmanager
def _listening(resolver: Any) -> Iterator[None]:
    """Where this process takes its port, which another one may have taken before.

    Raises:
        ClusterError: If one has.
        SystemExit: If this machine's ports were chosen by who started this process,
            and who can choose others.
    """
    try:
        yield
    except ClusterError as error:
        if getattr(error.__cause__, "errno", 0) != errno.EADDRINUSE:
            raise
        taken = error
    except tf.errors.UnknownError as error:
        if NO_SERVER not in error.message:
            raise
        job, number = resolver.task_type, resolver.task_id
        address = resolver.cluster_spec().task_address(job, number)
        taken = ClusterError(
            f"{job}:{number} cannot listen at {address}: another process has taken the "
            "port. Give the task another one, or start all processes again."
        )
    else:
        return
    if local_cluster.is_one_of_these():
        LOG.error("%s", taken)
        sys.exit(local_cluster.PORT_TAKEN)
    raise taken


def _check_jobs(resolver: Any, needed: Iterable[str]) -> None:
    """Refuses a cluster that lacks a job: its processes would serve nobody for ever."""
    jobs = resolver.cluster_spec().jobs if resolver is not None else []
    missing = [job for job in needed if job not in jobs]
    if missing:
        raise ClusterError(
            f"The strategy {PARAMETER_SERVER} needs {' and '.join(missing)} in the "
            f"cluster, which has {', '.join(jobs) or 'no task'}: name them in "
            f"TF_CONFIG. All tasks of Slurm are workers; for these there is "
            f"{MULTI_WORKER}."
        )


def _mirrored(replicas: int) -> tf.distribute.Strategy:
    """Returns replicas on as many GPUs, or else on parts of the CPU."""
    # Physical ones: to ask for logical ones settles what the CPU's parts are.
    if len(tf.config.list_physical_devices("GPU")) >= replicas:
        return tf.distribute.MirroredStrategy([f"GPU:{i}" for i in range(replicas)])
    [cpu, *_] = tf.config.list_physical_devices("CPU")
    parts = [tf.config.LogicalDeviceConfiguration() for _ in range(replicas)]
    try:
        tf.config.set_logical_device_configuration(cpu, parts)
    except RuntimeError as error:
        raise RuntimeError(
            f"The strategy {MIRRORED} has to divide the CPU, and TensorFlow has used "
            "it already. Call make_distribution before anything else."
        ) from error
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(replicas)])
