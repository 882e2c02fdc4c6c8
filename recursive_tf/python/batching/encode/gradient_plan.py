"""What launches keep for their gradients, and what takes it.

It mirrors `recursive_tf/cc/batching/gradient_plan.h`, which says what the parts mean.
"""

import dataclasses

from recursive_tf.python.batching.differentiate.training_block import (
    Kept,
    KeptFrom,
    TrainingBlock,
)

# Where a deferred part finds what it takes: Replayed::Kind in C++.
_KINDS = {KeptFrom.FORWARD: 0, KeptFrom.COTANGENT: 1, KeptFrom.BACKWARD: 2}


@dataclasses.dataclass(frozen=True)
class BlockGradient:
    """How one block is differentiated, without a tensor in it."""

    num_extras: int
    kept: tuple[int, ...]
    has_backward: bool
    has_deferred: bool
    tape: tuple[int, ...]
    cotangents: tuple[int, ...]
    input_gradients: tuple[int, ...]
    deferred: tuple[tuple[int, int], ...]


def gradient_of(block: TrainingBlock) -> BlockGradient:
    """Returns how a launch of `block` is replayed."""
    kept = block.kept_forward
    # What is kept is so for all gradients, also for one that has no backward part.
    tape = block.tape if block.backward is not None else ()

    def place(what: Kept) -> tuple[int, int]:
        index = what.index
        if what.source is KeptFrom.FORWARD:
            index = kept.index(index)
        elif what.source is KeptFrom.COTANGENT:
            index = block.cotangents.index(index)
        else:
            index += len(block.input_gradients)
        return _KINDS[what.source], index

    return BlockGradient(
        num_extras=block.num_extras,
        kept=kept,
        has_backward=block.backward is not None,
        has_deferred=block.deferred is not None,
        tape=tuple(map(kept.index, tape)),
        cotangents=block.cotangents,
        input_gradients=block.input_gradients,
        deferred=tuple(map(place, block.kept if block.deferred is not None else ())),
    )
