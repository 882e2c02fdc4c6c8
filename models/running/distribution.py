"""The strategy of a run: how many replicas there are, and where they are."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import tensorflow as tf

import recursive_tf as rtf
from models.running import local_cluster, slurm
from models.running.files import RunError, note
from models.running.settings import STRATEGIES, Settings

NONE, MIRRORED, MULTI_WORKER, PARAMETER_SERVER = STRATEGIES
OF_PROCESSES = (MULTI_WORKER, PARAMETER_SERVER)
NO_SERVER = "Could not start gRPC server"


@dataclasses.dataclass(frozen=True)
class Distribution:
    """What this process does in a run.

    Attributes:
        strategy: Of `tf.distribute`.
        is_chief: Whether it is the process that writes what the run leaves.
        is_shared: Whether a step's trees are shared among replicas.
    """

    strategy: tf.distribute.Strategy
    is_chief: bool
    is_shared: bool


def cluster_resolver() -> Any:
    """Returns what knows of the cluster that this process is in, or None.

    TF_CONFIG is what TensorFlow's own and most schedulers set; Slurm has variables of
    its own, in each of the tasks that srun starts.
    """
    if config := os.environ.get("TF_CONFIG"):
        try:
            json.loads(config)
        except ValueError as error:
            raise RunError(f"TF_CONFIG is not JSON: {error}.") from None
        return tf.distribute.cluster_resolver.TFConfigClusterResolver()
    return slurm.resolver() if slurm.is_one_of_several() else None


def leads(resolver: Any) -> bool:
    """Returns whether this process is in no cluster, or is its chief."""
    if resolver is None or resolver.task_type == "chief":
        return True
    has_chief = "chief" in resolver.cluster_spec().jobs
    is_first = (resolver.task_type, resolver.task_id) == ("worker", 0)
    return is_first and not has_chief


def jobs_of(settings: Settings) -> dict[str, int]:
    """Returns the tasks of a cluster on this machine; the first one leads."""
    if settings.strategy == MULTI_WORKER:
        return {"worker": settings.num_workers}
    return {"chief": 1, "worker": settings.num_workers, "ps": 1}


def make_distribution(settings: Settings, timeout_s: float) -> Distribution:
    """Returns the strategy that the settings name.

    Args:
        settings: Of the run.
        timeout_s: How long to wait for other processes, in seconds.

    Raises:
        rtf.distribute.ClusterError: If they do not come.
        SystemExit: In a process that only serves others, when these have ended; and if
            nobody in the cluster would lead, or hold variables.
    """
    if settings.strategy == NONE:
        return Distribution(tf.distribute.get_strategy(), True, False)
    if settings.strategy == MIRRORED:
        return Distribution(_mirrored(settings.num_workers), True, True)
    local_cluster.end_with_the_starter()
    resolver = cluster_resolver()
    if settings.strategy == PARAMETER_SERVER:
        _check_jobs(resolver, jobs_of(settings))
    with _listening(resolver):
        rtf.distribute.wait_for_cluster(resolver, timeout_s, _end_without)
        if settings.strategy == MULTI_WORKER:
            strategy = tf.distribute.MultiWorkerMirroredStrategy(resolver)
            return Distribution(strategy, leads(resolver), True)
        if resolver.task_type in ("worker", "ps"):
            server = tf.distribute.Server(
                resolver.cluster_spec(),
                job_name=resolver.task_type,
                task_index=resolver.task_id,
                protocol=resolver.rpc_layer or "grpc",
                start=True,
            )
    if resolver.task_type in ("worker", "ps"):
        server.join()
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    return Distribution(strategy, True, False)


def _end_without(why: str) -> None:
    """Ends this process, whose main thread may wait in TensorFlow for ever."""
    note(f"{why} Then start all processes again, with --resume if there is a run.")
    os._exit(1)


@contextlib.contextmanager
def _listening(resolver: Any) -> Iterator[None]:
    """Where this process takes its port, which another one may have taken before.

    Raises:
        rtf.distribute.ClusterError: If one has.
        SystemExit: If this machine's ports were chosen by who started this process,
            and who can choose others.
    """
    try:
        yield
    except rtf.distribute.ClusterError as error:
        if getattr(error.__cause__, "errno", 0) != errno.EADDRINUSE:
            raise
        taken = error
    except tf.errors.UnknownError as error:
        if NO_SERVER not in error.message:
            raise
        job, number = resolver.task_type, resolver.task_id
        address = resolver.cluster_spec().task_address(job, number)
        taken = rtf.distribute.ClusterError(
            f"{job}:{number} cannot listen at {address}: another process has taken the "
            "port. Give the task another one, or start all processes again."
        )
    else:
        return
    if local_cluster.is_one_of_these():
        note(str(taken))
        sys.exit(local_cluster.PORT_TAKEN)
    raise taken


def _check_jobs(resolver: Any, needed: Iterable[str]) -> None:
    """Ends a process of a cluster that lacks a job: it would serve nobody for ever."""
    jobs = resolver.cluster_spec().jobs
    missing = [job for job in needed if job not in jobs]
    if missing:
        sys.exit(
            f"--strategy={PARAMETER_SERVER} needs {' and '.join(missing)} in the "
            f"cluster, which has {', '.join(jobs)}: name them in TF_CONFIG. All tasks "
            f"of Slurm are workers; for these there is --strategy={MULTI_WORKER}."
        )


def _mirrored(replicas: int) -> tf.distribute.Strategy:
    """Returns replicas on as many GPUs, or else on parts of the CPU."""
    # Physical ones: to ask for logical ones settles what the CPU's parts are.
    if len(tf.config.list_physical_devices("GPU")) >= replicas:
        return tf.distribute.MirroredStrategy([f"GPU:{i}" for i in range(replicas)])
    [cpu, *_] = tf.config.list_physical_devices("CPU")
    parts = [tf.config.LogicalDeviceConfiguration() for _ in range(replicas)]
    tf.config.set_logical_device_configuration(cpu, parts)
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(replicas)])
