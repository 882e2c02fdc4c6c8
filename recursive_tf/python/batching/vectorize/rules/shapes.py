"""Rules of ops that move values, or ask for shapes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from recursive_tf.python.batching.graphs.static import static_axis
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules.table import register_vectorization
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock

# What these ops give does not depend on values. All shapes are known.
_OF_SHAPE: dict[str, Callable[[list[int]], Any]] = {
    "Shape": lambda shape: shape,
    "ShapeN": lambda shape: shape,
    "Size": lambda shape: int(np.prod(shape)),
    "Rank": len,
    "ZerosLike": np.zeros,
    "OnesLike": np.ones,
}
# Ops with parameters that have an entry for each dimension: that for the rows. -1 is
# all of them.
_FOR_ROWS: dict[str, list[Any]] = {
    "MirrorPad": [[0, 0]],
    "Pad": [[0, 0]],
    "PadV2": [[0, 0]],
}


@register_vectorization("Identity", "IdentityN", "Snapshot")
def identity(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """Nothing is to be done."""
    del block, op
    return inputs


@register_vectorization("EnsureShape")
def ensure_shape(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor | Operand]:
    """Checks at run time what was not known before."""
    if op.inputs[0].shape.is_fully_defined():
        return inputs
    return [tf.ensure_shape(block.all_rows(inputs[0]), [None, *op.outputs[0].shape])]


@register_vectorization(*_OF_SHAPE)
def of_shape(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """The same for all rows."""
    value_of, dtype = _OF_SHAPE[op.type], op.outputs[0].dtype
    return [
        block.once(lambda shape=operand.shape: tf.constant(value_of(shape), dtype))
        for operand in inputs
    ]


@register_vectorization("Reshape", "ExpandDims", "Squeeze")
def reshape(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Shapes are known, so each row is reshaped to what the op's output is."""
    return [block.reshaped(block.all_rows(inputs[0]), op.outputs[0].shape.as_list())]


@register_vectorization("BroadcastTo")
def broadcast_to(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Each row to the shape of the op's output."""
    return [block.all_rows(inputs[0], op.outputs[0].shape.as_list())]


@register_vectorization("Fill")
def fill(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The same of the second input."""
    return broadcast_to(block, op, inputs[1:])


@register_vectorization("ConcatV2")
def concat(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Along the same axis of each row."""
    axis = static_axis(op, inputs[-1].tensor, inputs[0].rank)
    return [tf.concat([block.all_rows(operand) for operand in inputs[:-1]], axis + 1)]


@register_vectorization("Pack")
def stack(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Along the same axis of each row."""
    axis = op.get_attr("axis") % (inputs[0].rank + 1)
    return [tf.stack([block.all_rows(operand) for operand in inputs], axis + 1)]


@register_vectorization("Unpack")
def unstack(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Along the same axis of each row."""
    axis = op.get_attr("axis") % inputs[0].rank
    results: list[tf.Tensor] = tf.unstack(
        inputs[0].tensor, op.get_attr("num"), axis + 1
    )
    return results


@register_vectorization(*_FOR_ROWS)
def with_dimensions(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Nothing happens along the rows."""
    others = [block.shared(op, i, inputs) for i in range(1, len(inputs))]
    return block.add_like(
        op,
        [
            block.all_rows(inputs[0]),
            _prefixed(_FOR_ROWS[op.type], others[0]),
            *others[1:],
        ],
    )


@register_vectorization("Tile")
def tile(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Each row is broadcast along new axes, whose gradients are sums along them."""
    sizes, tiled = inputs[0].shape, op.outputs[0].shape.as_list()
    ones, counts = [], []
    for size, larger in zip(sizes, tiled, strict=True):
        ones += [1, size]
        counts += [larger // max(size, 1), size]
    rows = block.reshaped(block.all_rows(inputs[0]), ones)
    return [block.reshaped(tf.broadcast_to(rows, [block.num_rows, *counts]), tiled)]


@register_vectorization("Transpose", "ConjugateTranspose")
def transpose(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Rows stay in front."""
    order = block.shared(op, 1, inputs)
    return block.add_like(op, [inputs[0].tensor, _prefixed([0], order + 1)])


def _prefixed(first: list[Any], parameter: tf.Tensor) -> tf.Tensor:
    return tf.concat([tf.constant(first, parameter.dtype), parameter], 0)


@register_vectorization("AddN")
def add_n(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """What rows share is added up once a root call."""
    del op
    shared = [operand for operand in inputs if not operand.is_row]
    total = tf.add_n([operand.tensor for operand in inputs if operand.is_row])
    if shared:
        total += block.tensor(block.once(lambda *added: tf.add_n(added), *shared))
    return [total]
