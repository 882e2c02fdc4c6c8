"""The replicas of `tf.distribute`, and their copies of variables."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compiler.xla.tsl.protobuf import coordination_config_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.distribute.cross_device_ops import CollectiveAllReduce
from tensorflow.python.distribute.distribute_utils import regroup
from tensorflow.python.distribute.multi_worker_util import coordination_leader
from tensorflow.python.distribute.values import PerReplicaSpec
from tensorflow.python.eager import context
from tensorflow.python.ops import variable_scope


@contextlib.contextmanager
def keep_caching_device() -> Iterator[None]:
    """Puts back where variables are cached.

    `tf.map_fn` changes that for all of the process while it traces, and leaves it so
    where the function that it traces raises.
    """
    scope = variable_scope.get_variable_scope()
    device = scope.caching_device
    try:
        yield
    finally:
        scope._caching_device = device


def replica_id() -> int:
    """Returns which replica of `tf.distribute` runs this; 0 where there is one."""
    if not tf.distribute.has_strategy():
        return 0  # The usual case, which each eager root call asks for.
    here = tf.distribute.get_replica_context()
    found = None if here is None else here.replica_id_in_sync_group
    return 0 if found is None else int(tf.get_static_value(found))


def can_gather_alike() -> bool:
    """Says whether replicas exchange by collective ops, in a graph that is built."""
    found = getattr(tf.distribute.get_strategy().extended, "_cross_device_ops", None)
    return isinstance(found, CollectiveAllReduce) and not tf.executing_eagerly()


def gather_alike(tensor: tf.Tensor) -> tf.Tensor:
    """Returns the tensors of all replicas one after the other, all of the same shape.

    `ReplicaContext.all_gather` first asks what shapes they have: one exchange more.
    """
    here = tf.distribute.get_replica_context()
    launchers = here.strategy.extended._cross_device_ops._launchers
    return launchers[here._replica_id]._all_gather(tensor, options=None)


def of_this_replica(variable: Any) -> Any:
    """Returns the copy of a variable, or of a replica's copy, that is this replica's.

    A body captures the copy of the replica that traced it.
    """
    found = _variable_here(variable.handle)
    return variable if found is None else found


def handle_of_this_replica(tensor: Any) -> Any:
    """Returns the handle of such a copy; any other tensor as it is."""
    found = _variable_here(tensor)
    return tensor if found is None else found.handle


def _variable_here(handle: Any) -> Any:
    """Returns this replica's copy of a variable by the handle of any, if it has one."""
    container = getattr(handle, "_distributed_container", None)
    mirrored = None if container is None else container()
    if mirrored is None or tf.distribute.get_replica_context() is None:
        return None
    return mirrored._get()


def per_replica(parts: Sequence[Any]) -> Any:
    """Returns structures, one a replica of this process, as a structure of values.

    As `Strategy.experimental_distribute_values_from_function` does; this needs no
    strategy.
    """
    return regroup(tuple(parts), always_wrap=True)


def per_replica_spec(specs: Sequence[Any]) -> Any:
    """Returns the specification of what `per_replica` makes."""
    return tf.nest.map_structure(lambda *of_each: PerReplicaSpec(*of_each), *specs)


def spec_of_one_replica(spec: Any) -> Any:
    """Returns the specification of what a replica gets of what has it for all."""
    return tf.nest.map_structure(
        lambda leaf: leaf._value_specs[0] if isinstance(leaf, PerReplicaSpec) else leaf,
        spec,
    )


def wait_for_tasks(spec: tf.train.ClusterSpec, timeout_s: float) -> None:
    """Sets how long a MultiWorkerMirroredStrategy waits for the other processes.

    Args:
        spec: The cluster.
        timeout_s: In seconds. TensorFlow's default is an hour.
    """
    jobs = [
        coordination_config_pb2.CoordinatedJob(name=job, num_tasks=spec.num_tasks(job))
        for job in ("chief", "worker")
        if job in spec.jobs
    ]
    eager = context.context()
    eager.configure_coordination_service(
        service_type="standalone",
        service_leader=coordination_leader(spec),
        cluster_register_timeout_in_ms=max(1, int(1000 * timeout_s)),
        coordinated_jobs=jobs,
    )
    # Else each goes on by itself, and waits for the others' devices for an hour.
    eager.coordination_service.cluster_register_with_barrier = True


def send_in_pieces_of(size: int) -> None:
    """Sets how many bytes of a tensor that processes exchange are one piece.

    Args:
        size: In bytes. TensorFlow's default is 4096.
    """
    eager = context.context()
    config = config_pb2.ConfigProto()
    if eager._config is not None:
        config.CopyFrom(eager._config)
    config.experimental.recv_buf_max_chunk = size
    eager._config = config
