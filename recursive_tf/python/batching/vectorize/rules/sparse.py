"""Rules of sparse tensors that all rows share."""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules.table import register_vectorization
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock


@register_vectorization("SparseTensorDenseMatMul")
def product_with_sparse(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The columns of all rows are columns of one matrix."""
    *sparse, dense = inputs
    shared = [block.shared(op, index, inputs) for index in range(len(sparse))]
    flips = op.get_attr("adjoint_b")
    columns = tf.transpose(dense.tensor, [2, 0, 1] if flips else [1, 0, 2], flips)
    inner, _, width = columns.shape
    flat = tf.reshape(columns, [inner, block.num_rows * width])
    result = tf.raw_ops.SparseTensorDenseMatMul(
        a_indices=shared[0],
        a_values=shared[1],
        a_shape=shared[2],
        b=flat,
        adjoint_a=op.get_attr("adjoint_a"),
    )
    height = op.outputs[0].shape[0]
    result = tf.reshape(result, [height, block.num_rows, width])
    return [tf.transpose(result, [1, 0, 2])]
