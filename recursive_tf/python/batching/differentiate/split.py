"""Divides the gradient of a block between its launches and the end of a root call.

What feeds the gradients of a block's inputs is needed at once, since other launches
wait for it. What only feeds gradients of values that all activations share is deferred:
it runs once, for the rows of all launches of the block (Xu et al. 2018, section 3.5,
"lazy batching"). Rows are independent, so that gives the sum over launches.
"""

import dataclasses
import math
from collections.abc import Sequence

from recursive_tf.python.batching.differentiate.joint_graph import JointGraph
from recursive_tf.python.batching.graphs.counts import Counts
from recursive_tf.python.batching.graphs.draft import (
    Draft,
    Drafted,
    needed_drafts,
)
from recursive_tf.python.program.heavy import is_heavy
from recursive_tf.python.program.trainable import is_trainable

# Cheap enough to be done again instead of keeping what they give.
_VIEWS = frozenset(
    (
        *("BroadcastTo", "ConcatV2", "GatherV2", "Pack", "Reshape", "Split", "SplitV"),
        *("Tile", "Unpack"),
    )
)
# Integers of these number rows, or items of all rows.
_NUMBERING = frozenset(("Range", "RecursiveItems"))


@dataclasses.dataclass(frozen=True)
class Split:
    """Where the gradient of a block is cut, as rows of the joint graph.

    Attributes:
        tape: Values of the block that the part at once takes.
        kept: What the deferred part takes of each launch.
        extras: Those of `kept` that the part at once computes for it.
        of_block: Those of `tape` and `kept` that the block computes.
    """

    tape: list[Drafted]
    kept: list[Drafted]
    extras: list[Drafted]
    of_block: list[Drafted]


def split(joint: JointGraph) -> Split:
    """Returns where to cut, so that few bytes a row are kept."""
    cutter = _Cutter(joint)
    at_once = list(joint.input_gradients.values())
    deferred = [part for _, parts in joint.invariant_gradients for part in parts]
    block = {row.op for row in joint.rows} | set(needed_drafts(joint.outputs, is_leaf))
    before = {t.op for t in joint.cotangents.values()}
    before |= block | set(needed_drafts(at_once, is_leaf))
    kept = cutter.cut(cutter.with_cheap(before, deferred), deferred, before)
    extras = [t for t in kept if t.op not in block and not is_leaf(t)]
    tape = cutter.cut(block, [*at_once, *extras], block)
    of_block = [t for t in [*tape, *kept] if t.op in block and not is_leaf(t)]
    return Split(tape, kept, extras, list(dict.fromkeys(of_block)))


class _Cutter:
    """Chooses rows from which something can be computed."""

    def __init__(self, joint: JointGraph) -> None:
        self._counts = Counts(joint.primes)
        self._there = {*joint.rows, *joint.outputs}
        self._consumers: dict[Drafted, list[Draft]] = {}
        for op in joint.drafts:
            for value in op.inputs:
                self._consumers.setdefault(value, []).append(op)
        self._numbered = self._find_numbered(joint)

    def with_cheap(
        self, available: set[Draft], wanted: Sequence[Drafted]
    ) -> set[Draft]:
        """Returns what can run at once for `wanted`, without a large product."""
        can_run = set(available)
        for op in needed_drafts(wanted, is_leaf):
            rows = [t for t in op.inputs if self._has_rows(t)]
            if (
                not is_heavy(op)
                and rows
                and all(t.op in can_run for t in rows)
                and all(map(self._has_rows, op.outputs))
            ):
                can_run.add(op)
        return can_run

    def cut(
        self,
        available: set[Draft],
        wanted: Sequence[Drafted],
        runs_anyway: set[Draft],
    ) -> list[Drafted]:
        """Returns available rows, few bytes of them, from which `wanted` follows.

        Args:
            available: Ops that run before, and leaves.
            wanted: What is computed later.
            runs_anyway: Those of `available` that also run if nothing wants it here.
        """
        later = needed_drafts(wanted, lambda t: t.op in available or is_leaf(t))
        read = [*(t for op in later for t in op.inputs), *wanted]
        cut = self._around([t for t in read if t.op in available], available)
        while True:
            for op in {_value_of(rows).op: None for rows in cut.values()}:
                can_repeat = op.type in _VIEWS or self._is_outer(op)
                if op.inputs and (can_repeat or op not in runs_anyway):
                    moved = self._moved(cut, op, available)
                    if self._bytes(moved) < self._bytes(cut):
                        cut = moved
                        break
            else:
                return list(cut.values())

    def _moved(
        self,
        cut: dict[Drafted, Drafted],
        op: Draft,
        available: set[Draft],
    ) -> dict[Drafted, Drafted]:
        """Returns a cut with what `op` takes instead of what it gives."""
        given = set(op.outputs)
        others = [rows for value, rows in cut.items() if value not in given]
        return self._around([*others, *op.inputs], available)

    def _around(
        self, tensors: Sequence[Drafted], available: set[Draft]
    ) -> dict[Drafted, Drafted]:
        """Returns the rows from which `tensors` follow, by what they are a shape of.

        That itself is taken if it is there anyway, or wanted in two shapes. What does
        not have the number of rows in front, in any shape, is computed again.
        """
        cut: dict[Drafted, Drafted] = {}
        todo = list(reversed(tensors))
        while todo:
            tensor = todo.pop()
            if not self._has_rows(tensor):
                continue
            rows = self._as_rows(tensor, available)
            if rows is None:
                todo += reversed(tensor.op.inputs)
                continue
            value = _value_of(rows)
            known = cut.setdefault(value, rows)
            if self._is_row_wise(value) and (known != rows or value in self._there):
                cut[value] = value
        return cut

    def _find_numbered(self, joint: JointGraph) -> set[Drafted]:
        """Returns the values with numbers of rows, e.g. which one to look up.

        Such a number is that of another row when launches are taken together. So these
        values are not kept, but computed again.
        """
        numbered: set[Drafted] = set()
        for op in joint.drafts:
            if op.type in _NUMBERING or any(t in numbered for t in op.inputs):
                numbered |= {
                    t
                    for t in op.outputs
                    if self._has_rows(t) and not is_trainable(t.dtype)
                }
        return numbered

    def _as_rows(self, tensor: Drafted, available: set[Draft]) -> Drafted | None:
        """Returns a shape of the same value that has a number of rows in front."""
        if tensor in self._numbered:
            return None
        candidates = [tensor, _value_of(tensor)]
        first = tensor.shape[0] if tensor.shape else None
        if self._counts.prime_in(first) and 0 not in (tensor.sizes or (0,)):
            uses = [op for op in self._consumers.get(tensor, ()) if op in available]
            candidates += [op.outputs[0] for op in uses if op.type == "Reshape"]
        return next(filter(self._is_row_wise, candidates), None)

    def _is_row_wise(self, tensor: Drafted) -> bool:
        return bool(tensor.sizes and tensor.sizes[0] in self._counts.primes)

    def _has_rows(self, tensor: Drafted) -> bool:
        """Says whether the number of rows, or a multiple, is somewhere in the shape."""
        sizes = tensor.shape or ()
        return any(size == 0 or self._counts.prime_in(size) for size in sizes)

    def _is_outer(self, op: Draft) -> bool:
        """Says whether an op gives all products of two vectors in each row."""
        if op.type == "Mul":
            return all(t.shape != op.outputs[0].shape for t in op.inputs)
        if not op.type.startswith("BatchMatMul"):
            return False
        shape = op.inputs[0].shape
        return bool(shape and shape[-2 if op.attrs["adj_x"].b else -1] == 1)

    def _bytes(self, cut: dict[Drafted, Drafted]) -> int:
        """Returns the size of a cut in bytes a row, or an item."""
        return sum(
            math.prod(tensor.sizes[1:]) * tensor.dtype.size
            for tensor in cut.values()
            if tensor.sizes
        )


def is_leaf(tensor: Drafted) -> bool:
    """Says whether a tensor is an input or a constant."""
    return not tensor.op.inputs


def _value_of(tensor: Drafted) -> Drafted:
    """Returns what `tensor` is a shape of."""
    return tensor.op.inputs[0] if tensor.op.type == "Reshape" else tensor
