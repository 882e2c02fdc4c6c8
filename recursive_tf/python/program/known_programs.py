"""Programs that this process knows: an equal one is not compiled again.

A user builds a model again, clones it, or lets a function be traced for another batch,
for evaluation, or a second time for the variables that the first trace made. The
program is the same each time, and so is all that is made of it. Only what it takes of
the outside is another one.
"""

import collections
import threading
from collections.abc import Sequence
from typing import NamedTuple

from recursive_tf.python import tf_compat
from recursive_tf.python.program.closed_graph import ClosedGraph
from recursive_tf.python.program.effects import ops_within
from recursive_tf.python.program.equal_programs import content_of_program
from recursive_tf.python.program.graph_copy import branch_function, branch_graphs
from recursive_tf.python.tf_compat import FuncGraph

# Of all programs that are kept together. What is made of an op takes 20 to 40 kB.
MOST_OPS = 4_000


class Counts(NamedTuple):
    """What a process knows, and how often that was of use.

    Attributes:
        programs: How many programs are kept.
        ops: How many ops their procedures have.
        found: How many programs were equal to one that was kept.
        added: How many were not, and were kept.
    """

    programs: int
    ops: int
    found: int
    added: int


class KnownPrograms:
    """Graphs of closed programs, by content; who was not asked for longest goes first.

    They hold nothing of the SubGraphs that they were made of, nor of what these use.

    Thread safety: may be used by many threads.

    Args:
        most_ops: How many ops all of them may have together.
    """

    def __init__(self, most_ops: int = MOST_OPS) -> None:
        self._most_ops = most_ops
        self._lock = threading.Lock()
        self._by_content: collections.OrderedDict[bytes, _Known] = (
            collections.OrderedDict()
        )
        self._num_ops = 0
        self._found = 0
        self._added = 0

    def same_as(
        self, graphs: Sequence[ClosedGraph], compiler: int
    ) -> Sequence[ClosedGraph]:
        """Returns the graphs of an equal program if one is known, or else `graphs`.

        Args:
            graphs: The closed procedures of a program that only reads.
            compiler: Which rules the program would be compiled with.
        """
        content = content_of_program(graphs, compiler)
        if content is None:
            return graphs
        num_ops = sum(1 for graph in graphs for _ in ops_within(graph))
        with self._lock:
            known = self._by_content.get(content)
            if known is not None:
                self._by_content.move_to_end(content)
                self._found += 1
                return known.graphs
            if num_ops > self._most_ops:
                return graphs
            for graph in graphs:
                _forget_origins(graph)
            self._by_content[content] = _Known(graphs, num_ops)
            self._added += 1
            self._num_ops += num_ops
            while self._num_ops > self._most_ops:
                _, oldest = self._by_content.popitem(last=False)
                self._num_ops -= oldest.num_ops
            return graphs

    def counts(self) -> Counts:
        """Returns how many there are, and how often one was found."""
        with self._lock:
            return Counts(
                len(self._by_content), self._num_ops, self._found, self._added
            )


class _Known(NamedTuple):
    graphs: Sequence[ClosedGraph]
    num_ops: int


def _forget_origins(graph: FuncGraph, branch: str | None = None) -> None:
    """Makes a closed graph hold nothing of the body that was traced."""
    for op in graph.get_operations():
        for inner in branch_graphs(op):
            _forget_origins(inner, branch_function(inner))
    tf_compat.forget_origins(graph, branch)
    tf_compat.forget_outside(graph)
    del graph.copied_by


KNOWN = KnownPrograms()
