"""The one walk through a graph: what can be reached from some ops."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

import tensorflow as tf

# An op, or a draft of one.
_Op = TypeVar("_Op", bound=Hashable)


def reachable(ops: Iterable[_Op], next_of: Callable[[_Op], Iterable[_Op]]) -> set[_Op]:
    """Returns some ops, and all that `next_of` leads to from them.

    A stack, not a recursion: chains of ops may be longer than Python's.

    Args:
        ops: Where the walk begins.
        next_of: Returns where it goes on from an op, e.g. the ops that compute what
            that takes. It is asked once an op.
    """
    found: set[_Op] = set()
    todo = list(ops)
    while todo:
        op = todo.pop()
        if op not in found:
            found.add(op)
            todo += next_of(op)
    return found


def needed_ops(
    outputs: Sequence[tf.Tensor],
    is_given: Callable[[tf.Tensor], bool],
    effects: Sequence[tf.Operation] = (),
) -> list[tf.Operation]:
    """Returns the ops that compute `outputs` of what is given, in the graph's order.

    And the `effects`, with what these need.
    """

    def makers(tensors: Iterable[tf.Tensor]) -> list[tf.Operation]:
        return [tensor.op for tensor in tensors if not is_given(tensor)]

    needed = reachable([*effects, *makers(outputs)], lambda op: makers(op.inputs))
    if not needed:
        return []
    graph = next(iter(needed)).graph
    return [op for op in graph.get_operations() if op in needed]
