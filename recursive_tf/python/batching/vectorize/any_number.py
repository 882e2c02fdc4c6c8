"""From a block to a function of many rows at once."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import TypeVar

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.flatten.flat_program import FlatProgram
from recursive_tf.python.batching.graphs.counts import NUMBERS_OF_ROWS
from recursive_tf.python.batching.graphs.draft import DraftGraph, make_graph
from recursive_tf.python.batching.graphs.emit import emit
from recursive_tf.python.batching.graphs.simplify import Simplifier, simplify
from recursive_tf.python.batching.plan.blocks import Block
from recursive_tf.python.batching.plan.stages import Wanted
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorize.prologue import Prologue
from recursive_tf.python.batching.vectorize.rules import rule_of
from recursive_tf.python.batching.vectorize.vectorized_block import (
    Rule,
    VectorizedBlock,
)
from recursive_tf.python.tf_compat import FuncGraph

_Made = TypeVar("_Made")


@dataclasses.dataclass(frozen=True)
class ForNumber:
    """A block that was vectorized, for one of the numbers that stand for any.

    Attributes:
        rows: The block.
        simplifier: Drafts its graph, simplified, and what is added to it.
    """

    rows: VectorizedBlock
    simplifier: Simplifier


class Vectorized:
    """A block that was vectorized, for any number of rows.

    What runs for it is made of it: by `inference_form`, and to differentiate it, by
    `make_training_block`, which uses it up.

    Attributes:
        block: The block.
        by_number: For the numbers that stand for any, as far as they were wanted.
    """

    def __init__(self, block: Block, for_number: Callable[[int], ForNumber]) -> None:
        self.block = block
        self.by_number: list[ForNumber] = []
        self._for_number = for_number
        self._at(0)  # What cannot be vectorized is refused here.

    def form(
        self,
        make: Callable[[ForNumber], _Made],
        drafts_of: Callable[[_Made], list[DraftGraph]],
        rest_of: Callable[[_Made], object] = lambda _: None,
    ) -> _Made:
        """Returns what `make` makes of it, if the number of rows does not matter.

        Args:
            make: Makes drafts and other things.
            drafts_of: Returns the drafts that were made.
            rest_of: Returns what to compare of the other things.

        Raises:
            CannotBatchError: If what it makes of two numbers differs.
        """
        first = make(self._at(0))
        drafts = [draft for graph in drafts_of(first) for draft in graph.drafts()]
        if self.by_number[0].rows.numbers.explain(drafts):
            return first

        def described(made: _Made) -> object:
            return list(map(structure, drafts_of(made))), rest_of(made)

        if described(first) != described(make(self._at(1))):
            raise CannotBatchError(
                self.block.ops[-1],
                "what it computes depends on how many rows there are.",
            )
        return first

    def _at(self, index: int) -> ForNumber:
        while len(self.by_number) <= index:
            number = NUMBERS_OF_ROWS[len(self.by_number)]
            self.by_number.append(self._for_number(number))
        return self.by_number[index]


def vectorize(
    program: FlatProgram,
    prologue: Prologue,
    block: Block,
    wanted: Mapping[tf.Operation, Wanted],
    rule_for: Callable[..., Rule] = rule_of,
) -> Vectorized:
    """Returns a block for many rows.

    Args:
        program: The program.
        prologue: Gets what the block takes beside rows.
        block: One of the program's.
        wanted: Of ops that also run for activations that do not want them: who does.
        rule_for: Returns how an op is vectorized.

    Raises:
        CannotBatchError: If an op of the block has no rule.
    """

    def vectorized_for(num_rows: int) -> ForNumber:
        rows = VectorizedBlock(program, prologue, block, rule_for, wanted, num_rows)
        return ForNumber(rows, simplify(rows.graph))

    return Vectorized(block, vectorized_for)


def inference_form(vectorized: Vectorized) -> tuple[FuncGraph, list[tf.Tensor]]:
    """Returns a graph of a block for any number of rows, and what else it takes.

    Its inputs are the block's, with rows in front, and then tensors of the prologue,
    which are returned too.

    Raises:
        CannotBatchError: If what it computes depends on how many rows there are.
    """

    def make(vectorized: ForNumber) -> tuple[DraftGraph, list[tf.Tensor]]:
        rows, simplifier = vectorized.rows, vectorized.simplifier
        return emit(simplifier.drafted(), rows.primes), list(rows.invariants)

    drafted, invariants = vectorized.form(make, lambda made: [made[0]])
    return make_graph(drafted), invariants


def structure(graph: DraftGraph) -> list[object]:
    """Returns what drafts compute, without names."""
    numbers = {value: i for i, value in enumerate(graph.inputs)}
    found: list[object] = []
    for draft in graph.drafts():
        inputs = [numbers[value] for value in draft.inputs]
        found.append((draft.type, tf_compat.content_of(draft.attrs), inputs))
        for output in draft.outputs:
            numbers[output] = len(numbers)
    return [*found, [numbers[value] for value in graph.outputs]]
