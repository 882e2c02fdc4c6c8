"""The replicas and processes of `tf.distribute`, and where variables are."""

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.ops import handle_data_util, variable_scope


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


def is_elsewhere(handle: tf.Tensor) -> bool:
    """Says whether another process of a cluster holds what a handle leads to."""
    server = context.get_server_def()
    where = tf.DeviceSpec.from_string(handle.device)
    if server is None or where.job is None:
        return False
    return (where.job, where.task) != (server.job_name, server.task_index)


def spec_of_variable(handle: tf.Tensor) -> tf.TensorSpec:
    """Returns what a handle says of its variable."""
    [found] = handle_data_util.get_resource_handle_data(handle).shape_and_type
    return tf.TensorSpec(tf.TensorShape(found.shape), tf.as_dtype(found.dtype))


def set_num_steps(distributed: Any, steps: int) -> None:
    """Says how many steps a distributed dataset has, and that it has them everywhere.

    TensorFlow takes the number of elements of a worker's dataset, of which a step uses
    one a replica; and workers ask each other in each step whether there is one left.
    """
    if isinstance(distributed, tf.distribute.DistributedDataset) and steps >= 0:
        distributed._cardinality = int(steps)
        distributed._enable_get_next_as_optional = False


def num_steps(iterator: Any) -> int | None:
    """Returns how many steps the dataset of an iterator has, if that is known."""
    steps = getattr(iterator, "_cardinality", None)
    return None if steps is None or steps < 0 else int(steps)
