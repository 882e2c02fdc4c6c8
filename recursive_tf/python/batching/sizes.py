"""Integers of activations of which it is known what they count: items of a list.

`tf.shape(items)[0]` differs between activations, so it is a row like any other; but
what is made of that size, e.g. by `tf.broadcast_to`, is a list of the same axis. To see
that, what is computed of sizes is computed once with the number that stands for the
items.
"""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.operand import Operand
from recursive_tf.python.batching.static import static_value
from recursive_tf.python.tf_compat import FuncGraph

# What sizes are taken from, and put together by, on their way.
_OF_SIZES = frozenset(
    (
        *("Cast", "ConcatV2", "ExpandDims", "GatherV2", "Identity", "Pack", "Reshape"),
        *("Slice", "Squeeze", "StridedSlice"),
    )
)


def sizes_after(op: tf.Operation, inputs: Sequence[Operand]) -> np.ndarray | None:
    """Returns what an op gives of sizes; None if its inputs are no such."""
    if op.type not in _OF_SIZES or all(operand.sizes is None for operand in inputs):
        return None
    values = [_value_of(operand) for operand in inputs]
    graph = FuncGraph("sizes")
    constants = []
    with graph.as_default():
        for value, operand in zip(values, inputs, strict=True):
            if value is None:
                return None
            constants.append(tf.constant(value, operand.tensor.dtype))
        return static_value(tf_compat.create_op(graph, op, constants).outputs[0])


def _value_of(operand: Operand) -> np.ndarray | None:
    if operand.sizes is not None:
        return operand.sizes
    return None if operand.is_row else static_value(operand.tensor)
