"""From a block to a function of many rows at once."""

from collections.abc import Callable, Collection
from typing import TypeVar

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.flatten.flat_program import FlatProgram
from recursive_tf.python.batching.graphs.counts import NUMBERS_OF_ROWS
from recursive_tf.python.batching.graphs.emit import emit
from recursive_tf.python.batching.graphs.simplify import simplify
from recursive_tf.python.batching.plan.blocks import Block
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorize.prologue import Prologue
from recursive_tf.python.batching.vectorize.rules import rule_of
from recursive_tf.python.batching.vectorize.vectorized_block import (
    Rule,
    VectorizedBlock,
)
from recursive_tf.python.tf_compat import FuncGraph


def vectorize(
    program: FlatProgram,
    prologue: Prologue,
    block: Block,
    speculated: Collection[tf.Operation],
    rule_for: Callable[..., Rule] = rule_of,
) -> tuple[FuncGraph, list[tf.Tensor]]:
    """Returns a graph of a block for any number of rows, and what else it takes.

    Its inputs are the block's, with rows in front, and then tensors of the prologue,
    which are returned too.

    Raises:
        CannotBatchError: If an op of the block has no rule, or if what it computes
            depends on how many rows there are.
    """

    def make(num_rows: int) -> tuple[FuncGraph, list[tf.Tensor]]:
        rows = VectorizedBlock(program, prologue, block, rule_for, speculated, num_rows)
        return emit(simplify(rows.graph), rows.primes), rows.invariants

    return for_any_number(block, make, lambda made: structure(made[0]))


_Made = TypeVar("_Made")


def for_any_number(
    block: Block, make: Callable[[int], _Made], describe: Callable[[_Made], object]
) -> _Made:
    """Returns what `make` makes of a number of rows, if that does not matter.

    Raises:
        CannotBatchError: If what it makes of two numbers is described differently.
    """
    first, second = map(make, NUMBERS_OF_ROWS)
    if describe(first) != describe(second):
        raise CannotBatchError(
            block.ops[-1], "what it computes depends on how many rows there are."
        )
    return first


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
