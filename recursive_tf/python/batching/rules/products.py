"""Rules of matrix products."""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python.batching.operand import Operand
from recursive_tf.python.batching.rules.table import register_vectorization
from recursive_tf.python.batching.vectorised_block import VectorisedBlock

_MATRIX = 2  # The rank.


@register_vectorization("MatMul", "BatchMatMulV2", "BatchMatMulV3")
def product(
    block: VectorisedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Rows times a matrix that all of them share is one product."""
    left, right = inputs
    names = (
        ("transpose_a", "transpose_b") if op.type == "MatMul" else ("adj_x", "adj_y")
    )
    flip_left, flip_right = (op.get_attr(name) for name in names)
    shape = op.outputs[0].shape.as_list()
    if left.is_row and not right.is_row and right.rank == _MATRIX:
        rows = _transposed(block, left) if flip_left else left.tensor
        inner = right.shape[1 if flip_right else 0]
        flat = tf.reshape(rows, [-1, inner])
        result = tf.matmul(flat, block.tensor(right), transpose_b=flip_right)
        return [block.reshaped(result, shape)]
    if right.is_row and not left.is_row and left.rank == _MATRIX and shape[-1] == 1:
        # A matrix times a vector: the vectors are rows of the other factor.
        inner = left.shape[0 if flip_left else 1]
        vectors = block.reshaped(right.tensor, [inner])
        result = tf.matmul(vectors, block.tensor(left), transpose_b=not flip_left)
        return [block.reshaped(result, shape)]
    rank = len(shape)
    factors = [block.aligned(operand, rank) for operand in inputs]
    kinds = {"adjoint_a": flip_left, "adjoint_b": flip_right}
    return [tf.matmul(*factors, **kinds)]


def _transposed(block: VectorisedBlock, operand: Operand) -> tf.Tensor:
    *batch, rows, columns = operand.shape
    if 1 in (rows, columns):
        return block.reshaped(operand.tensor, [*batch, columns, rows])
    return tf.linalg.matrix_transpose(operand.tensor)
