"""The replicas of `tf.distribute`, and their copies of variables."""

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.distribute.cross_device_ops import CollectiveAllReduce
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
    context = tf.distribute.get_replica_context()
    found = None if context is None else context.replica_id_in_sync_group
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


# Iterators that copy ahead to devices are tuned while they run, whatever the dataset's
# options say, and whoever ends one waits until what tunes it wakes: for seconds.
ON_HOST = tf.distribute.InputOptions(
    experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA,
    experimental_fetch_to_device=False,
)


def input_on_host() -> Any:
    """Returns how replicas get trees: on the host, where what follows them runs.

    Replicas of one process take turns with one iterator. With one each, which ON_HOST
    means, a dataset that is shuffled anew in each pass has another order for each.
    """
    return tf.distribute.InputOptions(experimental_fetch_to_device=False)


def with_num_steps(distributed: Any, steps: int) -> Any:
    """Returns a distributed dataset that has so many steps, everywhere.

    TensorFlow takes the number of elements of a worker's dataset, of which a step uses
    one a replica; and workers ask each other in each step whether there is one left.

    Args:
        distributed: From `distribute_datasets_from_function`, where that is not just a
            dataset.
        steps: If negative, it is not known.
    """
    if not isinstance(distributed, tf.distribute.DistributedDataset):
        return distributed
    if steps >= 0:
        distributed._cardinality = int(steps)
        distributed._enable_get_next_as_optional = False
    if len(distributed._input_workers.compute_devices_for_worker(0)) == 1:
        distributed._options = ON_HOST
    return distributed


def num_steps(iterator: Any) -> int | None:
    """Returns how many steps the dataset of an iterator has, if that is known."""
    steps = getattr(iterator, "_cardinality", None)
    return None if steps is None or steps < 0 else int(steps)


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
