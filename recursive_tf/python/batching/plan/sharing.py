"""Which blocks may compute rows once for all activations that compute the same."""

import enum

from recursive_tf.python.batching.flatten.flat_program import FlatProgram
from recursive_tf.python.batching.plan.blocks import Block
from recursive_tf.python.program.heavy import num_multiplications

# Of a row. Fewer take less time than to find the rows that are equal, and to read
# and write rows that do not stand side by side: decision 22 has the figures.
_LEAST_MULTIPLICATIONS = 1 << 13


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
    pays = sum(map(num_multiplications, block.ops)) >= _LEAST_MULTIPLICATIONS
    return Sharing.PAYS if pays else Sharing.MAY
