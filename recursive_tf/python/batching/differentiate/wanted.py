"""Which gradients the parts of blocks are to give."""

from __future__ import annotations

import tensorflow as tf

from recursive_tf.python.batching.flatten.flat_program import FlatProgram
from recursive_tf.python.batching.plan.blocks import Block
from recursive_tf.python.batching.vectorize.prologue import Prologue
from recursive_tf.python.program.reachable import reachable
from recursive_tf.python.program.unneeded import Unneeded


class Wanted:
    """All gradients, but those that come to nothing that a tape watches.

    Left out are gradients of what a block takes of the root call's arguments, where no
    other call is of the first procedure, and of what follows from captures alone.

    Args:
        program: The program.
        prologue: What its blocks take beside rows.
        unneeded: The inputs of the root call whose gradients are left out.
    """

    def __init__(
        self, program: FlatProgram, prologue: Prologue, unneeded: Unneeded
    ) -> None:
        first = program.procedures[0]
        is_called = any(
            first in wait.branches for p in program.procedures for wait in p.waits
        )
        self._rows = {id(first.inputs[i]) for i in unneeded.arguments if not is_called}
        self._captures = {
            tensor.op: capture in unneeded.captures
            for tensor, capture in zip(
                prologue.graph.inputs, prologue.captures, strict=True
            )
        }

    def of_input(self, block: Block, index: int) -> bool:
        """Says whether the gradient of an input of a block is wanted."""
        pieces = block.pieces_of(block.inputs[index])
        return not all(id(piece) in self._rows for piece in pieces)

    def of_invariant(self, tensor: tf.Tensor) -> bool:
        """Says whether the gradient of a tensor of the prologue is wanted."""
        ops = reachable([tensor.op], lambda op: [t.op for t in op.inputs])
        unneeded = [self._captures[op] for op in ops if op in self._captures]
        return not (unneeded and all(unneeded))
