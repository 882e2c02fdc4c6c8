"""Rules of lookups: rows of a table that all activations share, or of their own."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python.batching.graphs.static import static_axis
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules.table import register_vectorization
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock


@register_vectorization("ResourceGather")
def resource_gather(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """One lookup of all rows, that does not read the rest of the variable."""
    if op.get_attr("batch_dims"):
        raise CannotBatchError(op, "it has batch_dims. Use tf.gather of the value.")
    return _read(block, op, inputs, inputs[1].rank)


@register_vectorization("ResourceGatherNd")
def resource_gather_nd(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The same."""
    return _read(block, op, inputs, inputs[1].rank - 1)


def _read(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand], num_indices: int
) -> Sequence[tf.Tensor]:
    """Adds a lookup in a variable, whose shape the handle may not tell."""
    (rows,) = block.add_like(op, [block.shared(op, 0, inputs), inputs[1].tensor])
    tail = op.outputs[0].shape[num_indices:]
    rows.set_shape(inputs[1].tensor.shape[: num_indices + 1].concatenate(tail))
    return [rows]


@register_vectorization("LookupTableFindV2")
def find(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """All keys are looked up at once."""
    table, default = block.shared(op, 0, inputs), block.shared(op, 2, inputs)
    return block.add_like(op, [table, inputs[1].tensor, default])


@register_vectorization("GatherV2")
def gather(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """One lookup of all rows."""
    values, indices = inputs[:2]
    axis = static_axis(op, inputs[2].tensor, values.rank)
    batch_dims = op.get_attr("batch_dims")
    batch_dims += indices.rank if batch_dims < 0 else 0
    if not values.is_row:
        wanted = block.wanted_by(op)
        if wanted is not None:
            places = block.reshaped(block.all_rows(indices), [*indices.shape, 1])
            return [look_up(block, values, places, wanted)]
        return [_gather_shared(block, values, indices, axis, batch_dims)]
    if not indices.is_row and not batch_dims:
        return [tf.gather(values.tensor, block.tensor(indices), axis=axis + 1)]
    all_indices = block.all_rows(indices)
    return [
        tf.gather(values.tensor, all_indices, axis=axis + 1, batch_dims=batch_dims + 1)
    ]


def _gather_shared(
    block: VectorizedBlock,
    values: Operand,
    indices: Operand,
    axis: int,
    batch_dims: int,
) -> tf.Tensor:
    """Looks up in what all rows share."""
    if not indices.rank:
        table = block.tensor(block.once(lambda t: moved(t, axis, 0), values))
        return tf.gather(table, indices.tensor)
    found = tf.gather(
        block.tensor(values),
        moved(indices.tensor, 0, batch_dims),
        axis=axis,
        batch_dims=batch_dims,
    )
    return moved(found, axis, 0)


def moved(tensor: tf.Tensor, source: int, target: int) -> tf.Tensor:
    """Returns a tensor with one of its axes elsewhere."""
    order = list(range(tensor.shape.rank))
    order.insert(target, order.pop(source))
    return tensor if order == sorted(order) else tf.transpose(tensor, order)


@register_vectorization("GatherNd")
def gather_nd(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """One lookup of all rows."""
    del op
    return [look_up(block, inputs[0], block.all_rows(inputs[1]))]


def look_up(
    block: VectorizedBlock,
    values: Operand,
    indices: tf.Tensor,
    wanted: tf.Tensor | None = None,
) -> tf.Tensor:
    """Returns what is at indices, whose last dimension is one index, of each row.

    Args:
        block: The block that is made.
        values: What all rows share, or own ones.
        indices: Of each row.
        wanted: If not all rows want it, who does, of shared values. Others get zeros
            where an index is out of range: nobody will read them.
    """
    if not values.is_row:
        if wanted is None:
            return tf.gather_nd(block.tensor(values), indices)
        checked = library.recursive_wanted_ids(
            ids=indices, wanted=wanted, table=block.tensor(values)
        )
        table = _not_empty(block, values, indices.shape[-1])
        return tf.raw_ops.GatherNd(
            params=table, indices=checked, bad_indices_policy="IGNORE"
        )
    # One axis after the other: with an index of the row in front, as TensorFlow does
    # it, what is kept for the gradient would only be right within one launch.
    found, batch_dims = values.tensor, 1
    if not indices.shape[-1]:  # Of no axis: the whole row, wherever an index stands.
        ones = [1] * (indices.shape.rank - 2)
        found = tf.reshape(found, [block.num_rows, *ones, *values.shape])
        return tf.broadcast_to(found, [*indices.shape[:-1], *values.shape])
    for index in tf.unstack(indices, axis=-1):
        found = tf.gather(found, index, axis=batch_dims, batch_dims=batch_dims)
        batch_dims = indices.shape.rank - 1
    return found


def _not_empty(block: VectorizedBlock, values: Operand, num_axes: int) -> tf.Tensor:
    """Returns values with a place along each of the first axes: nothing has no index.

    That is so whatever the index, and though it may be of no use.
    """
    paddings = [[0, int(not size)] for size in values.shape[:num_axes]]
    paddings += [[0, 0]] * (values.rank - num_axes)
    if not np.any(paddings):
        return block.tensor(values)
    if num_axes == 1 and values.tensor.dtype in (tf.int32, tf.int64, tf.bool):
        # In the block, and not in the prologue, which takes time in each root call:
        # where numbers are looked up without a launch, the op is not run at all.
        return library.recursive_not_empty(table=block.tensor(values))
    return block.tensor(block.once(lambda tensor: tf.pad(tensor, paddings), values))


@register_vectorization("ScatterNd")
def scatter_nd(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Each row into its own."""
    indices = with_row_numbers(block, block.all_rows(inputs[0]))
    shape = tf.constant([block.num_rows, *op.outputs[0].shape], indices.dtype)
    return block.add_like(op, [indices, block.all_rows(inputs[1]), shape])


@register_vectorization(
    "TensorScatterAdd",
    "TensorScatterMax",
    "TensorScatterMin",
    "TensorScatterSub",
    "TensorScatterUpdate",
)
def tensor_scatter(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Each row into its own."""
    values, indices, updates = inputs
    numbered = with_row_numbers(block, block.all_rows(indices))
    return block.add_like(
        op, [block.all_rows(values), numbered, block.all_rows(updates)]
    )


def with_row_numbers(block: VectorizedBlock, indices: tf.Tensor) -> tf.Tensor:
    """Returns indices into all rows for indices into each: with its number first."""
    numbers = tf.range(block.num_rows, dtype=indices.dtype)
    ones = [1] * (indices.shape.rank - 1)
    numbers = tf.reshape(numbers, [block.num_rows, *ones])
    numbers = tf.broadcast_to(numbers, [*indices.shape[:-1], 1])
    return tf.concat([numbers, indices], -1)
