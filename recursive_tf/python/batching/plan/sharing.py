"""Which blocks may compute rows once for all activations that compute the same."""

import enum

import tensorflow as tf

from recursive_tf.python.batching.flatten.flat_program import FlatProgram
from recursive_tf.python.batching.plan.blocks import Block
from recursive_tf.python.program.heavy import num_multiplications

# Of a row. Fewer take less time than to find the rows that are equal, and to read
# and write rows that do not stand side by side: decision 22 has the figures.
_LEAST_MULTIPLICATIONS = 1 << 13
# The same of numbers: who multiplies such rows does so once for all, decision 35.
_LEAST_LOOKED_UP = 1 << 8


class Sharing(enum.IntEnum):
    """What is known of a block before it runs, as the root op has it."""

    NEVER = 0
    MAY = 1
    PAYS = 2


def sharing_of(program: FlatProgram, block: Block) -> Sharing:
    """Returns whether rows of a block may be shared, and whether that pays.

    A shared row gets the sum of the gradients of all that it stands for. A gradient of
    its own that an op has, e.g. one that clips, may be another for the sum.
    """
    if any(map(program.own_gradients.differ, block.ops)):
        return Sharing.NEVER
    pays = (
        sum(map(num_multiplications, block.ops)) >= _LEAST_MULTIPLICATIONS
        or sum(_num_looked_up(program, op) for op in block.ops) >= _LEAST_LOOKED_UP
    )
    return Sharing.PAYS if pays else Sharing.MAY


def _num_looked_up(program: FlatProgram, op: tf.Operation) -> int:
    """Returns how many numbers an op reads of what is the same for all activations."""
    if op.type not in ("GatherV2", "ResourceGather"):
        return 0
    table, row = program.inputs_of(op)[0], op.outputs[0]
    is_known = row.shape.is_fully_defined() and not program.is_row(table)
    return int(row.shape.num_elements()) if is_known else 0
