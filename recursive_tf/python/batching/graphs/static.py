"""Values that are known while a program is compiled."""

import numpy as np
import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.refusal import CannotBatchError

# What is larger is not worth to be known, and might be as large as the rows are many.
_MOST_ELEMENTS = 64
# What these give is not longer than what they take, though TensorFlow cannot say.
_NEVER_LONGER = frozenset(
    ("BroadcastGradientArgs", "ConcatV2", "InvertPermutation", "ListDiff")
)
# What these give does not depend on values.
_OF_SHAPES = frozenset(("Rank", "Shape", "ShapeN", "Size"))


def static_value(tensor: tf.Tensor) -> np.ndarray | None:
    """Returns the value of a small expression of constants, or None."""
    if tensor.dtype == tf.variant or _is_computed(tensor):
        return None
    value: np.ndarray | None
    if tensor.op.type == "Const":
        value = tf.get_static_value(tensor)
    elif tensor.op.type == "ShapeN":  # Which TensorFlow does not evaluate.
        shape = tensor.op.inputs[tensor.value_index].shape
        value = np.array(shape, tensor.dtype.as_numpy_dtype)
    else:
        value = tf_compat.evaluate_constant(tensor)
    return value


def _is_computed(tensor: tf.Tensor) -> bool:
    """Says whether a tensor depends on an input, or would be long on the way."""
    todo, seen = [tensor], set()
    while todo:
        tensor = todo.pop()
        if tensor.op in seen:
            continue
        seen.add(tensor.op)
        count = tensor.shape.num_elements()
        if count is None and tensor.op.type in _NEVER_LONGER:
            count = 0
        elif count == 0:
            count = max(tensor.shape)  # No elements, but the shape may count rows.
        if count is None or count > _MOST_ELEMENTS:
            return True
        if not tensor.op.inputs and tensor.op.type != "Const":
            return True
        if tensor.op.type in _OF_SHAPES:
            if not all(t.shape.is_fully_defined() for t in tensor.op.inputs):
                return True
        else:
            todo += tensor.op.inputs
    return False


def static_axis(op: tf.Operation, tensor: tf.Tensor, rank: int) -> int:
    """Returns an axis of a value of some rank, counted from the front.

    Raises:
        CannotBatchError: If it is computed.
    """
    axis = static_value(tensor)
    if axis is None:
        raise CannotBatchError(op, "its axis is computed. Make it a Python number.")
    return int(axis) % rank
