"""From a block to a function of many rows at once."""

import dataclasses
from collections.abc import Callable, Collection
from typing import TypeVar

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.flatten.flat_program import FlatProgram
from recursive_tf.python.batching.graphs.counts import NUMBERS_OF_ROWS
from recursive_tf.python.batching.graphs.emit import emit
from recursive_tf.python.batching.graphs.simplify import Simplifier, simplify
from recursive_tf.python.batching.plan.blocks import Block
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
        simplifier: Has its graph, simplified, and simplifies what is added to it.
    """

    rows: VectorizedBlock
    simplifier: Simplifier


@dataclasses.dataclass(frozen=True)
class Vectorized:
    """A block that was vectorized, for any number of rows.

    What runs for it is made of it: by `inference_form`, and to differentiate it, by
    `make_training_block`, which uses it up.

    Attributes:
        block: The block.
        by_number: For each of the numbers that stand for any.
    """

    block: Block
    by_number: list[ForNumber]

    def form(
        self,
        make: Callable[[ForNumber], _Made],
        graphs_of: Callable[[_Made], list[FuncGraph]],
        rest_of: Callable[[_Made], object] = lambda _: None,
    ) -> _Made:
        """Returns what `make` makes of it, if the number of rows does not matter.

        Args:
            make: Makes graphs and other things.
            graphs_of: Returns the graphs that were made.
            rest_of: Returns what to compare of the other things.

        Raises:
            CannotBatchError: If what it makes of two numbers differs.
        """
        first, second = map(make, self.by_number)

        def described(made: _Made) -> object:
            return list(map(structure, graphs_of(made))), rest_of(made)

        if described(first) != described(second):
            raise CannotBatchError(
                self.block.ops[-1],
                "what it computes depends on how many rows there are.",
            )
        for graph in graphs_of(second):
            tf_compat.dismantle(graph)
        return first


def vectorize(
    program: FlatProgram,
    prologue: Prologue,
    block: Block,
    speculated: Collection[tf.Operation],
    rule_for: Callable[..., Rule] = rule_of,
) -> Vectorized:
    """Returns a block for many rows.

    Args:
        program: The program.
        prologue: Gets what the block takes beside rows.
        block: One of the program's.
        speculated: Ops that also run for activations that do not want them.
        rule_for: Returns how an op is vectorized.

    Raises:
        CannotBatchError: If an op of the block has no rule.
    """

    def vectorized_for(num_rows: int) -> ForNumber:
        rows = VectorizedBlock(program, prologue, block, rule_for, speculated, num_rows)
        return ForNumber(rows, simplify(rows.graph))

    return Vectorized(block, list(map(vectorized_for, NUMBERS_OF_ROWS)))


def inference_form(vectorized: Vectorized) -> tuple[FuncGraph, list[tf.Tensor]]:
    """Returns a graph of a block for any number of rows, and what else it takes.

    Its inputs are the block's, with rows in front, and then tensors of the prologue,
    which are returned too.

    Raises:
        CannotBatchError: If what it computes depends on how many rows there are.
    """

    def make(vectorized: ForNumber) -> tuple[FuncGraph, list[tf.Tensor]]:
        rows, simplified = vectorized.rows, vectorized.simplifier.graph
        return emit(simplified, rows.primes), list(rows.invariants)

    return vectorized.form(make, lambda made: [made[0]])


def structure(graph: FuncGraph) -> list[object]:
    """Returns what a graph computes, without names."""
    numbers = {t: i for i, t in enumerate(map(id, graph.inputs))}
    found: list[object] = []
    for op in graph.get_operations():
        if op.type == "Placeholder":
            continue
        inputs = [numbers[id(t)] for t in op.inputs]
        found.append((tf_compat.signature_of(op), inputs))
        for output in op.outputs:
            numbers[id(output)] = len(numbers)
    return [*found, [numbers[id(t)] for t in graph.outputs]]
