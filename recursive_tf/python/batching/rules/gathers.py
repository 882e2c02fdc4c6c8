"""Rules of lookups: rows of a table that all activations share, or of their own."""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python.batching.operand import Operand
from recursive_tf.python.batching.rules.table import (
    by_vectorized_map,
    register_vectorization,
)
from recursive_tf.python.batching.static import static_axis
from recursive_tf.python.batching.vectorised_block import VectorisedBlock


@register_vectorization("ResourceGather")
def resource_gather(
    block: VectorisedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """One lookup of all rows, that does not read the rest of the variable."""
    handle, indices = inputs
    if op.get_attr("batch_dims"):
        return by_vectorized_map(block, op, inputs)
    rows = tf.raw_ops.ResourceGather(
        resource=block.tensor(handle),
        indices=block.tensor(indices),
        dtype=op.outputs[0].dtype,
    )
    tail = op.outputs[0].shape[indices.rank :]
    rows.set_shape(indices.tensor.shape.concatenate(tail))
    return [rows]


@register_vectorization("GatherV2")
def gather(
    block: VectorisedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """One lookup of all rows."""
    values, indices = inputs[:2]
    axis = static_axis(op, inputs[2].tensor, values.rank)
    batch_dims = op.get_attr("batch_dims") % max(indices.rank, 1)
    if not values.is_row:
        if axis or batch_dims:
            return by_vectorized_map(block, op, inputs)
        if block.is_speculated(op):
            return [_total_gather(block, values, indices)]
        return [tf.gather(block.tensor(values), indices.tensor)]
    if indices.is_row:
        return [
            tf.gather(
                values.tensor, indices.tensor, axis=axis + 1, batch_dims=batch_dims + 1
            )
        ]
    if batch_dims:
        return by_vectorized_map(block, op, inputs)
    return [tf.gather(values.tensor, block.tensor(indices), axis=axis + 1)]


def _total_gather(
    block: VectorisedBlock, values: Operand, indices: Operand
) -> tf.Tensor:
    """Gives zeros where an index is out of range: nobody will read what is there."""
    return tf.raw_ops.GatherNd(
        params=block.tensor(values),
        indices=block.reshaped(indices.tensor, [*indices.shape, 1]),
        bad_indices_policy="IGNORE",
    )
