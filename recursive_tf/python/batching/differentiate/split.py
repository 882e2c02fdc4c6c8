"""Divides the gradient of a block between its launches and the end of a root call.

What feeds the gradients of a block's inputs is needed at once, since other launches
wait for it. What only feeds gradients of values that all activations share is deferred:
it runs once, for the rows of all launches of the block (Xu et al. 2018, section 3.5,
"lazy batching"). Rows are independent, so that gives the sum over launches.
"""

import dataclasses
from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python.batching.differentiate.joint_graph import JointGraph
from recursive_tf.python.batching.graphs.counts import Counts
from recursive_tf.python.program.heavy import is_heavy
from recursive_tf.python.program.reachable import needed_ops
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

    tape: list[tf.Tensor]
    kept: list[tf.Tensor]
    extras: list[tf.Tensor]
    of_block: list[tf.Tensor]


def split(joint: JointGraph) -> Split:
    """Returns where to cut, so that few bytes a row are kept."""
    cutter = _Cutter(joint)
    at_once = list(joint.input_gradients.values())
    deferred = [part for _, parts in joint.invariant_gradients for part in parts]
    block = {row.op for row in joint.rows} | set(needed_ops(joint.outputs, is_leaf))
    before = {t.op for t in joint.cotangents.values()}
    before |= block | set(needed_ops(at_once, is_leaf))
    kept = cutter.cut(cutter.with_cheap(before, deferred), deferred, before)
    extras = [t for t in kept if t.op not in block and not is_leaf(t)]
    tape = cutter.cut(block, [*at_once, *extras], block)
    of_block = [t for t in [*tape, *kept] if t.op in block and not is_leaf(t)]
    return Split(tape, kept, extras, _different(of_block))


class _Cutter:
    """Chooses rows from which something can be computed."""

    def __init__(self, joint: JointGraph) -> None:
        self._counts = Counts(joint.primes)
        self._there = [*joint.rows, *joint.outputs]
        self._numbered = self._find_numbered(joint)

    def with_cheap(
        self, available: set[tf.Operation], wanted: Sequence[tf.Tensor]
    ) -> set[tf.Operation]:
        """Returns what can run at once for `wanted`, without a large product."""
        can_run = set(available)
        for op in needed_ops(wanted, is_leaf):
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
        available: set[tf.Operation],
        wanted: Sequence[tf.Tensor],
        runs_anyway: set[tf.Operation],
    ) -> list[tf.Tensor]:
        """Returns available rows, few bytes of them, from which `wanted` follows.

        Args:
            available: Ops that run before, and leaves.
            wanted: What is computed later.
            runs_anyway: Those of `available` that also run if nothing wants it here.
        """
        later = needed_ops(wanted, lambda t: t.op in available or is_leaf(t))
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
        cut: dict[int, tf.Tensor],
        op: tf.Operation,
        available: set[tf.Operation],
    ) -> dict[int, tf.Tensor]:
        """Returns a cut with what `op` takes instead of what it gives."""
        given = set(map(id, op.outputs))
        others = [rows for value, rows in cut.items() if value not in given]
        return self._around([*others, *op.inputs], available)

    def _around(
        self, tensors: Sequence[tf.Tensor], available: set[tf.Operation]
    ) -> dict[int, tf.Tensor]:
        """Returns the rows from which `tensors` follow, by what they are a shape of.

        That itself is taken if it is there anyway, or wanted in two shapes. What does
        not have the number of rows in front, in any shape, is computed again.
        """
        cut: dict[int, tf.Tensor] = {}
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
            known = cut.setdefault(id(value), rows)
            if self._is_row_wise(value) and (
                known is not rows or self._is_there(value)
            ):
                cut[id(value)] = value
        return cut

    def _find_numbered(self, joint: JointGraph) -> set[int]:
        """Returns the ids of values with numbers of rows, e.g. which one to look up.

        Such a number is that of another row when launches are taken together. So these
        values are not kept, but computed again.
        """
        numbered: set[int] = set()
        for op in joint.rows[0].graph.get_operations() if joint.rows else ():
            if op.type in _NUMBERING or any(id(t) in numbered for t in op.inputs):
                numbered |= {
                    id(t)
                    for t in op.outputs
                    if self._has_rows(t) and not is_trainable(t.dtype)
                }
        return numbered

    def _as_rows(
        self, tensor: tf.Tensor, available: set[tf.Operation]
    ) -> tf.Tensor | None:
        """Returns a shape of the same value that has a number of rows in front."""
        if id(tensor) in self._numbered:
            return None
        candidates = [tensor, _value_of(tensor)]
        if self._counts.prime_in(tensor.shape[0]) and tensor.shape.num_elements():
            uses = [op for op in tensor.consumers() if op in available]
            candidates += [op.outputs[0] for op in uses if op.type == "Reshape"]
        return next(filter(self._is_row_wise, candidates), None)

    def _is_there(self, value: tf.Tensor) -> bool:
        return any(value is known for known in self._there)

    def _is_row_wise(self, tensor: tf.Tensor) -> bool:
        shape = tensor.shape
        known = shape.is_fully_defined() and shape.rank
        return bool(known and shape[0] in self._counts.primes)

    def _has_rows(self, tensor: tf.Tensor) -> bool:
        """Says whether the number of rows, or a multiple, is somewhere in the shape."""
        sizes = tensor.shape.as_list() if tensor.shape.rank else []
        return any(size == 0 or self._counts.prime_in(size) for size in sizes)

    def _is_outer(self, op: tf.Operation) -> bool:
        """Says whether an op gives all products of two vectors in each row."""
        if op.type == "Mul":
            return all(t.shape != op.outputs[0].shape for t in op.inputs)
        if not op.type.startswith("BatchMatMul"):
            return False
        return bool(op.inputs[0].shape[-2 if op.get_attr("adj_x") else -1] == 1)

    def _bytes(self, cut: dict[int, tf.Tensor]) -> int:
        """Returns the size of a cut in bytes a row, or an item."""
        return sum(
            tensor.shape.num_elements() // tensor.shape[0] * tensor.dtype.size
            for tensor in cut.values()
        )


def is_leaf(tensor: tf.Tensor) -> bool:
    """Says whether a tensor is an input or a constant."""
    return not tensor.op.inputs


def _value_of(tensor: tf.Tensor) -> tf.Tensor:
    """Returns what `tensor` is a shape of."""
    return tensor.op.inputs[0] if tensor.op.type == "Reshape" else tensor


def _different(tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    return list({id(tensor): tensor for tensor in tensors}.values())
