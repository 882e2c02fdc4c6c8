"""What of the prologue is not total and smooth: computed when somebody wants it.

Each op of it is wanted by some takers: by the blocks that take what it gives, or what
that leads to; or by a value that the program's first procedure names. Those with the
same takers are a late part. It runs once a root call, before the first launch of one of
its takers; so it fails, or is not there, as if it stood in the block. Its gradient runs
if one came to one of its takers: for each op in it, so did to what reads that.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.vectorize.prologue import Prologue
from recursive_tf.python.program.graph_copy import GraphCopy, Rewrite
from recursive_tf.python.tf_compat import FuncGraph

# Takers by number: the blocks, and then the values that the plan names.
Takers = frozenset[int]


@dataclasses.dataclass(frozen=True)
class LatePart:
    """A late part, as tensors of the prologue's graph.

    Attributes:
        takers: Who wants it.
        inputs: What it takes: hoisted, or of late parts of more takers.
        outputs: What others than it read.
    """

    takers: Takers
    inputs: list[tf.Tensor]
    outputs: list[tf.Tensor]

    def graph(self, name: str) -> FuncGraph:
        """Returns a function of the inputs that gives the outputs."""
        return extract(name, self.inputs, self.outputs)


def extract(
    name: str, inputs: Sequence[tf.Tensor], outputs: Sequence[tf.Tensor]
) -> FuncGraph:
    """Returns a part of the prologue's graph, unchanged, as a graph of its own.

    Args:
        name: For people.
        inputs: What it takes.
        outputs: What it gives.
    """
    graph = FuncGraph(tf_compat.unique_name(name))
    tensors = [*inputs, *outputs]
    if tensors:
        rewrite = Rewrite(otherwise=_copy_with_attributes)
        copy = GraphCopy(tensors[0].graph, graph, rewrite)
        for tensor in inputs:
            copy.bind_input(tensor)
        copy.copy_needed(outputs)
        graph.outputs = [copy.resolve(tensor) for tensor in outputs]
    return graph


def _copy_with_attributes(copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
    inputs = [copy.resolve(tensor) for tensor in op.inputs]
    return list(tf_compat.create_op(copy.target, op, inputs).outputs)


def late_parts(
    prologue: Prologue,
    wanted: Iterable[tuple[tf.Tensor, Iterable[int]]],
    leads_on: Callable[[tf.Operation], bool] = lambda _op: True,
) -> list[LatePart]:
    """Returns the late parts, each behind those that it takes of.

    Args:
        prologue: The prologue.
        wanted: Tensors of it, and the takers of each.
        leads_on: Says of an op whether who wants it wants what it takes.
    """
    tensors, takers = _takers(prologue, wanted, leads_on)
    parts: dict[Takers, list[tf.Operation]] = {}
    for op in prologue.graph.get_operations():
        if op in takers:
            parts.setdefault(takers[op], []).append(op)
    # Who wants an op wants what it takes: that is of more takers, or of as many.
    order = sorted(parts, key=lambda takers: (-len(takers), sorted(takers)))
    read = tensors | _read_by_others(takers)
    return [_part(own, parts[own], read) for own in order]


def _takers(
    prologue: Prologue,
    wanted: Iterable[tuple[tf.Tensor, Iterable[int]]],
    leads_on: Callable[[tf.Operation], bool],
) -> tuple[set[int], Mapping[tf.Operation, Takers]]:
    """Returns the ids of late tensors that are wanted, and who wants each late op."""
    ids: set[int] = set()
    found: dict[tf.Operation, set[int]] = {}
    for tensor, own in wanted:
        if prologue.is_late(tensor):
            ids.add(id(tensor))
            found.setdefault(tensor.op, set()).update(own)
    for op in reversed(prologue.graph.get_operations()):
        if op not in found or not leads_on(op):
            continue
        for tensor in op.inputs:
            if prologue.is_late(tensor):
                found.setdefault(tensor.op, set()).update(found[op])
    return ids, {op: frozenset(own) for op, own in found.items()}


def _read_by_others(takers: Mapping[tf.Operation, Takers]) -> set[int]:
    return {
        id(tensor)
        for op, own in takers.items()
        for tensor in op.inputs
        if takers.get(tensor.op, own) != own
    }


def _part(takers: Takers, ops: Sequence[tf.Operation], read: set[int]) -> LatePart:
    own = set(ops)
    inputs = {
        id(tensor): tensor
        for op in ops
        for tensor in op.inputs
        if tensor.op not in own and tensor.op.type != "Const"
    }
    outputs = [t for op in ops for t in op.outputs if id(t) in read]
    return LatePart(takers, list(inputs.values()), outputs)
