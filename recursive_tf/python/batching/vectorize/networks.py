"""What a network computes of captures itself, and not in its prologue.

A network is a program of one large block without calls, e.g. an LSTM along 64 steps of
a batch. What follows from captures alone is in the prologue elsewhere: it is the same
for all launches. A network has one launch, though, and its prologue is in front of
that: while hundreds of small ops run there, e.g. the time gates of a PhasedLSTM, no
product does. In the block they run beside products.

Only blocks that TensorFlow's executor runs anyway do so: ops without rows are none of a
block program.
"""

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.flatten.flat_program import FlatProgram
from recursive_tf.python.batching.plan.blocks import Block

# Fewer ops in front of a block take no time to speak of.
_LEAST_OPS = 200
# More of them take longer than to ask for an op.
_MOST_NUMBERS = 1 << 16
# Beside what is computed element by element.
_LIGHT = frozenset(
    (
        *("Cast", "Equal", "ExpandDims", "NotEqual", "Reshape", "SelectV2", "Slice"),
        *("Squeeze", "StridedSlice"),
    )
)
_PRODUCTS = ("BatchMatMulV2", "BatchMatMulV3", "MatMul")


def is_network(program: FlatProgram, block: Block) -> bool:
    """Says whether a block is all of a network, and runs as a TensorFlow function."""
    return (
        len(block.ops) >= _LEAST_OPS
        and len(program.procedures) == 1
        and not program.procedures[0].waits
        and any(_is_of_row_matrices(program, op) for op in block.ops)
    )


def is_light(op: tf.Operation) -> bool:
    """Says whether an op of the prologue may be one of the block instead.

    Such an op cannot fail, and takes so little that a gradient computes it again.
    """
    sizes = [output.shape.num_elements() for output in op.outputs]
    return (
        (tf_compat.is_elementwise(op.type) or op.type in _LIGHT)
        and not tf_compat.has_custom_gradient(op)
        and all(size is not None and size <= _MOST_NUMBERS for size in sizes)
    )


def _is_of_row_matrices(program: FlatProgram, op: tf.Operation) -> bool:
    """Says whether an op multiplies a matrix of each row with one that all share.

    That is one product of all their rows, and such a block is no block program.
    """
    if op.type not in _PRODUCTS:
        return False
    left, right = program.inputs_of(op)[:2]
    is_row, is_shared = program.is_row(left), not program.is_row(right)
    return is_row and is_shared and left.shape[:-1].num_elements() not in (None, 1)
