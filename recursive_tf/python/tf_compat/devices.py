"""Where tensors are, and where ops go."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.distribute import device_util

PROCESS = ("job", "task")
DEVICE = ("device_type", "device_index")


def current_device() -> str:
    """Returns where ops go that are added now: of this process, as far as is known."""
    here: str = device_util.current()
    if here:
        return here
    with tf.init_scope(), tf.device("CPU:0"):
        local = tf.DeviceSpec.from_string(tf.constant(0).device)
    process: str = tf.DeviceSpec(local.job, local.replica, local.task).to_string()
    return process


def is_elsewhere(
    resource: Any, here: str, parts: Sequence[str] = PROCESS + DEVICE
) -> bool:
    """Says whether a resource is on another device than an op, as far as is known.

    Args:
        resource: A variable, or a handle.
        here: From `current_device`.
        parts: What to compare of where they are, e.g. `PROCESS` alone.
    """
    there, op = (tf.DeviceSpec.from_string(d) for d in (resource.device or "", here))
    pairs = ((getattr(there, part), getattr(op, part)) for part in parts)
    return any(a is not None and b is not None and a != b for a, b in pairs)


def is_in_another_process(resource: Any) -> bool:
    """Says whether another process of a cluster holds a variable or a resource."""
    return is_elsewhere(resource, current_device(), PROCESS)
