"""Rules of ops that move values, or ask for shapes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from recursive_tf.python.batching.operand import Operand
from recursive_tf.python.batching.rules.table import (
    by_vectorized_map,
    register_vectorization,
)
from recursive_tf.python.batching.static import static_axis, static_value
from recursive_tf.python.batching.vectorised_block import VectorisedBlock

# What these ops give does not depend on values. All shapes are known.
_OF_SHAPE: dict[str, Callable[[list[int]], Any]] = {
    "Shape": lambda shape: shape,
    "Size": lambda shape: int(np.prod(shape)),
    "Rank": len,
    "ZerosLike": np.zeros,
    "OnesLike": np.ones,
}


@register_vectorization(*_OF_SHAPE)
def of_shape(
    block: VectorisedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """The same for all rows."""
    value = _OF_SHAPE[op.type](inputs[0].shape)
    return [block.once(lambda: tf.constant(value, op.outputs[0].dtype))]


@register_vectorization("Reshape", "ExpandDims", "Squeeze")
def reshape(
    block: VectorisedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Shapes are known, so each row is reshaped to what the op's output is."""
    return [block.reshaped(block.all_rows(inputs[0]), op.outputs[0].shape.as_list())]


@register_vectorization("ConcatV2")
def concat(
    block: VectorisedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Along the same axis of each row."""
    axis = static_axis(op, inputs[-1].tensor, inputs[0].rank)
    return [tf.concat([block.all_rows(operand) for operand in inputs[:-1]], axis + 1)]


@register_vectorization("StridedSlice")
def strided_slice(
    block: VectorisedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """What takes all of a row, as `x[tf.newaxis]` does, is a reshape."""
    strides = static_value(inputs[3].tensor)
    shape = op.outputs[0].shape.as_list()
    takes_all = np.prod(shape) == np.prod(inputs[0].shape)
    if inputs[0].is_row and takes_all and strides is not None and (strides > 0).all():
        return [block.reshaped(inputs[0].tensor, shape)]
    return by_vectorized_map(block, op, inputs)
