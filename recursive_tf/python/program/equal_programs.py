"""When two closed programs are equal: what is made of one is right for the other.

Their graphs then are the same op for op: types, attributes, constants, what takes what
and waits for what, shapes, and the lines of the user's code. Names are not compared, of
ops, functions or SubGraphs. What a program takes of the outside is an argument of its
procedures, and so not compared either, but for its type.
"""

import hashlib
from collections.abc import Iterable, Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.program.closed_graph import ClosedGraph
from recursive_tf.python.program.graph_copy import (
    CONDITIONALS,
    LOOPS,
    branch_function,
    branch_graphs,
)
from recursive_tf.python.tf_compat import FuncGraph

_FUNCTIONAL = CONDITIONALS | LOOPS
# Handles, of which a type does not say what they lead to.
_HANDLES = frozenset((tf.resource, tf.variant))


def content_of_program(graphs: Sequence[ClosedGraph], compiler: int) -> bytes | None:
    """Returns what is equal of programs that are equal, and of no others.

    It is a digest: two programs never have the same by chance.

    Args:
        graphs: The closed procedures.
        compiler: Which rules the program would be compiled with.

    Returns:
        None for a program that is equal to no other: an op has a gradient of its own,
        or calls Python, or a function in it is that which was traced.
    """
    content = _Content()
    content.add(compiler, len(graphs))
    for graph in graphs:
        content.add(graph.capture_indices)
        if not content.add_graph(graph):
            return None
    return content.digest()


class _Content:
    """A digest of graphs while they are gone through."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=32)

    def digest(self) -> bytes:
        """Returns the digest of what was added."""
        return self._hash.digest()

    def add(self, *values: object) -> None:
        """Adds values whose representation says all of them."""
        self._hash.update(repr(values).encode())

    def add_graph(self, graph: FuncGraph) -> bool:
        """Adds a graph, and says whether another one may be equal to it."""
        ops = graph.get_operations()
        numbers = {op: number for number, op in enumerate(ops)}

        def named(tensors: Iterable[tf.Tensor]) -> list[tuple[int, int]]:
            return [(numbers[tensor.op], tensor.value_index) for tensor in tensors]

        for op in ops:
            node = tf_compat.content_of_op(op)
            if node is None or not _has_own_functions(op):
                return False
            self.add(
                len(node),
                named(op.inputs),
                sorted(numbers[before] for before in op.control_inputs),
                tf_compat.place_in_user_code(op),
            )
            self._hash.update(node)
            for output in op.outputs:
                self._add_static_info(output)
            if op.type in _FUNCTIONAL and not self._add_branches(op):
                return False
        last = sorted(numbers[op] for op in graph.control_outputs)
        self.add(named(graph.inputs), named(graph.outputs), last)
        return True

    def _add_branches(self, op: tf.Operation) -> bool:
        branches = branch_graphs(op)
        self.add([branch_function(branch) for branch in branches])
        return all(map(self.add_graph, branches))

    def _add_static_info(self, tensor: tf.Tensor) -> None:
        shape = tensor.shape
        self.add(tensor.dtype.name, None if shape.rank is None else shape.as_list())
        if tensor.dtype in _HANDLES:
            self.add(tf_compat.content_of_handle(tensor))


def _has_own_functions(op: tf.Operation) -> bool:
    """Says whether what `op` names, if anything, holds nothing of a traced body."""
    if op.type in _FUNCTIONAL:
        # It was copied while the program was closed.
        return all(hasattr(graph, "copied_by") for graph in branch_graphs(op))
    return not tf_compat.function_names(op)
