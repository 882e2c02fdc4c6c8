"""Whether arrays are trees, and if not, of which tree and node."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np
import tensorflow as tf

from recursive_tf.data.errors import ForestError
from recursive_tf.data.rows import NO_CHILD

if TYPE_CHECKING:
    from recursive_tf.data.forest import Forest

Ints = np.ndarray
# Of a longer cycle an error shows the beginning.
MAX_CYCLE = 10


class Edges(NamedTuple):
    """Parents and children, a row for each child of each node."""

    parents: Ints
    children: Ints


def edges_of(forest: Forest) -> Edges:
    """Returns the edges of a forest that has values, of each node in order."""
    if not forest.is_binary:
        parents = forest.children.value_rowids().numpy()
        return Edges(parents.astype(np.int32), forest.children.values.numpy())
    pairs = np.stack([forest.left.numpy(), forest.right.numpy()], axis=1)
    parents, _ = np.nonzero(pairs != NO_CHILD)
    return Edges(parents.astype(np.int32), pairs[pairs != NO_CHILD])


def validate(forest: Forest, dag: bool) -> None:
    """Raises a ForestError unless the invariants of `Forest` hold."""
    if tf.is_symbolic_tensor(forest.roots):
        raise ForestError(
            "A forest without values cannot be validated. Do it outside of the "
            "tf.function or dataset.map, where the forest is made."
        )
    checks = _Checks(forest)
    checks.sizes()
    checks.roots()
    checks.edges()
    if not dag:
        checks.one_parent()
    checks.reachable()
    checks.no_cycle()


class _Checks:
    """The checks, each of which takes it that those before it passed."""

    def __init__(self, forest: Forest) -> None:
        self._edges = edges_of(forest)
        self._roots = np.atleast_1d(forest.roots.numpy())
        self._sizes = np.atleast_1d(forest.sizes.numpy())
        self._num_nodes = int(forest.num_nodes)
        self._ends = np.cumsum(self._sizes)
        self._starts = self._ends - self._sizes

    def sizes(self) -> None:
        for tree in _where(self._sizes <= 0):
            raise ForestError(
                f"tree {tree} is empty: its size is {self._sizes[tree]}. A tree has at "
                "least one node."
            )
        if self._sizes.sum() != self._num_nodes:
            raise ForestError(
                f"The sizes of the trees add up to {self._sizes.sum()} nodes, but "
                f"there are {self._num_nodes} tokens."
            )

    def roots(self) -> None:
        outside = (self._roots < self._starts) | (self._roots >= self._ends)
        for tree in _where(outside):
            raise ForestError(
                f"tree {tree}: its root is node {self._roots[tree]}, which is out of "
                f"range: {self._nodes(tree)}."
            )

    def edges(self) -> None:
        parents, children = self._edges
        trees = np.searchsorted(self._ends, parents, side="right")
        outside = (children < self._starts[trees]) | (children >= self._ends[trees])
        for edge in _where(outside):
            self._refuse(
                parents[edge],
                f"has the child {children[edge]}, which is out of range: "
                f"{self._nodes(trees[edge])}, and a leaf has none",
            )

    def one_parent(self) -> None:
        counts = self._num_parents()
        for node in _where(counts > 1):
            parents = self._edges.parents[self._edges.children == node]
            self._refuse(
                node,
                f"has {counts[node]} parents, e.g. {parents[0]} and {parents[1]}. If "
                "nodes may share children, say dag=True",
            )

    def reachable(self) -> None:
        is_orphan = self._num_parents() == 0
        is_orphan[self._roots] = False
        for node in _where(is_orphan):
            tree = self._tree_of(node)
            self._refuse(
                node,
                "is unreachable: it is no child, and the root of the tree is "
                f"{self._roots[tree]}",
            )

    def no_cycle(self) -> None:
        """Takes away nodes without parents until none is left, or only cycles."""
        parents, children = self._edges
        waiting = self._num_parents()
        order = np.argsort(parents, kind="stable")
        first = np.searchsorted(parents[order], np.arange(self._num_nodes + 1))
        level = np.flatnonzero(waiting == 0)
        while level.size:
            waiting[level] = -1
            below = children[order[ranges(first[level], first[level + 1])]]
            np.subtract.at(waiting, below, 1)
            level = np.unique(below[waiting[below] == 0])
        for node in _where(waiting > 0):
            self._refuse_cycle(node, waiting > 0)

    def _refuse_cycle(self, node: int, left_over: Ints) -> NoReturn:
        parents, children = self._edges
        kept = left_over[parents] & left_over[children]
        pairs = zip(children[kept].tolist(), parents[kept].tolist(), strict=True)
        parent_of = dict(pairs)
        path = [node]
        while (parent := parent_of[path[-1]]) not in path:
            path.append(parent)
        cycle = [parent, *reversed(path[path.index(parent) :])]
        shown = [*cycle[: MAX_CYCLE - 1], "..."] if len(cycle) > MAX_CYCLE else cycle
        self._refuse(
            parent, f"is below itself: a cycle, {' -> '.join(map(str, shown))}"
        )

    def _num_parents(self) -> Ints:
        return np.bincount(self._edges.children, minlength=self._num_nodes)

    def _tree_of(self, node: int) -> int:
        return int(np.searchsorted(self._ends, node, side="right"))

    def _nodes(self, tree: int) -> str:
        return f"the tree's nodes are {self._starts[tree]} to {self._ends[tree] - 1}"

    def _refuse(self, node: int, what: str) -> NoReturn:
        raise ForestError(f"tree {self._tree_of(node)}, node {node} {what}.")


def ranges(begin: Ints, end: Ints) -> Ints:
    """Returns `begin[0], ..., end[0] - 1, begin[1], ...`."""
    lengths = end - begin
    shifts = np.repeat(begin - (np.cumsum(lengths) - lengths), lengths)
    ranges: Ints = np.arange(lengths.sum()) + shifts
    return ranges


def _where(is_wrong: Ints) -> list[int]:
    found: list[int] = np.flatnonzero(is_wrong).tolist()
    return found
