"""What rules return, checked: a rule that is wrong must not give wrong values."""

import re
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.flatten.own_gradients import is_read
from recursive_tf.python.batching.graphs.counts import Counts
from recursive_tf.python.batching.refusal import RuleError
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.tf_compat import FuncGraph
from recursive_tf.python.tracing.specs import format_spec, spec_of


class RuleResults:
    """Checks what rules return for one block.

    Args:
        graph: Of the block, where rows are.
        shared: Of the prologue, where all else is.
        primes: What stands for numbers of rows and of items; it grows.
    """

    def __init__(self, graph: FuncGraph, shared: FuncGraph, primes: list[int]) -> None:
        self._graph = graph
        self._shared = shared
        self._primes = primes

    def check_rows(
        self,
        op: tf.Operation,
        shapes: Sequence[list[int] | None],
        results: Any,
        num_rows: int,
    ) -> None:
        """Raises RuleError if a rule returned something else than rows of `shapes`.

        None among these is of what nobody reads. A row may also be an item.
        """
        count = len(op.outputs)
        if not isinstance(results, Sequence):
            raise RuleError(op, f"a list of {count} outputs", _returned(results))
        if len(results) != count:
            raise RuleError(op, f"{count} outputs", f"returned {len(results)}")
        for index, (shape, result) in enumerate(zip(shapes, results, strict=True)):
            if shape is not None and op.outputs[index].dtype != tf.variant:
                is_row = not isinstance(result, Operand) or result.is_row
                tensor = result.tensor if isinstance(result, Operand) else result
                front = [num_rows] if is_row else []
                spec = tf.TensorSpec([*front, *shape], op.outputs[index].dtype)
                self._check(op, index, tensor, spec, is_row=is_row)
                tensor.set_shape(spec.shape)
        if self._graph.captures or self._shared.captures:
            raise RuleError(
                op,
                "what it makes of its inputs",
                "returned what uses other tensors or variables",
            )

    def check_lists(self, op: tf.Operation, results: Any, num_rows: int) -> None:
        """Checks what a rule of lists returns: lists, or rows as other rules."""
        for index, (output, result) in enumerate(zip(op.outputs, results, strict=True)):
            operand = (
                result if isinstance(result, Operand) else Operand(result, is_row=True)
            )
            if not operand.is_row or not is_read(output) or output.shape.rank is None:
                continue
            front = (
                tf.TensorShape([num_rows]).concatenate(output.shape)
                if operand.axis is None
                else tf.TensorShape([operand.axis.num_items, 1, *output.shape[1:]])
            )
            spec = tf.TensorSpec(front, output.dtype)
            self._check(op, index, operand.tensor, spec, is_row=True)

    def _check(
        self,
        op: tf.Operation,
        index: int,
        tensor: Any,
        spec: tf.TensorSpec,
        *,
        is_row: bool,
    ) -> None:
        is_there = _is_of(tensor, self._graph if is_row else self._shared)
        if not is_there or not spec.is_compatible_with(tensor):
            raise RuleError(
                op,
                f"{self._format(spec)} as output {index}, for N rows",
                f"returned {self._format(tensor)}" if is_there else _describe(tensor),
            )

    def _format(self, like: tf.Tensor | tf.TensorSpec) -> str:
        counts = Counts(self._primes)

        def in_words(number: re.Match[str]) -> str:
            prime = counts.prime_in(int(number[0]))
            if prime is None:
                return number[0]
            times = int(number[0]) // prime
            return "N" if times == 1 else f"{times}N"

        return re.sub(r"\b\d+\b", in_words, format_spec(spec_of(like)))


def _describe(found: object) -> str:
    """Says what a rule returned that is no tensor of the right graph."""
    if isinstance(found, tf.Tensor):
        return "returned a tensor of another graph than its inputs"
    return _returned(found)


def _returned(found: object) -> str:
    return f"returned an object of type {type(found).__name__}"


def _is_of(found: object, graph: FuncGraph) -> bool:
    if not isinstance(found, tf.Tensor) or isinstance(found, tf_compat.EagerTensor):
        return False
    return found.graph is graph
