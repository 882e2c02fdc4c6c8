"""Which blocks may compute rows once for all activations that compute the same."""

import enum

from recursive_tf.python.batching.flatten.flat_program import FlatProgram
from recursive_tf.python.batching.plan.blocks import Block
from recursive_tf.python.program.heavy import is_heavy


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
    return Sharing.PAYS if any(map(is_heavy, block.ops)) else Sharing.MAY
