"""Batches in levels: rows so ordered that the nodes of a level are one slice.

NumPy alone. First stand the leaves, a row for each word that occurs, since leaves of
the same word have the same state; above them the other nodes by height. A row finds
its children by their rows, and its gradient in a slot of its parent: slots are one for
each root, and then two for each inner node, its left child's and its right child's.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np

from benchmarks.works.trees import NO_CHILD, Trees
from benchmarks.works.work import CLASSES


@dataclasses.dataclass(frozen=True)
class Levels:
    """A batch.

    Attributes:
        words: int64[leaf rows]: the words, each once.
        sizes: The number of inner nodes of each level, lowest first.
        children: int64[2 * inner nodes]: the rows of left and right child, in turn.
        slots: int64[inner nodes]: where each finds its gradient.
        leaf_slots: int64[leaves]: the slots of leaves, those of a row together.
        leaf_starts: int64[leaf rows]: the first of them for each row.
        roots: int64[trees]: rows.
        weights: float32[rows with a loss, classes]: by what the log of a probability is
            multiplied so that the sum is the loss: how many nodes of the row have the
            class, over minus the number of trees. Rows are all, or those of roots.
    """

    words: np.ndarray
    sizes: list[int]
    children: np.ndarray
    slots: np.ndarray
    leaf_slots: np.ndarray
    leaf_starts: np.ndarray
    roots: np.ndarray
    weights: np.ndarray

    @property
    def inner(self) -> int:
        """How many inner nodes there are."""
        return len(self.slots)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.words) + len(self.slots)


class Treebank:
    """Trees whose nodes know their height, so that no batch has to find it.

    Args:
        trees: All of them.
        words: How many words the embedding has.
        loss_at: Which nodes have a loss.
    """

    def __init__(
        self, trees: Trees, words: int, loss_at: Literal["nodes", "roots"]
    ) -> None:
        whole = trees.batch(np.arange(len(trees)))
        numbers = np.arange(len(whole.left))[:, None]
        # Sorting integers of 16 bits takes linear time.
        self._heights = whole.heights().astype(np.uint16)
        # How far before a node its children stand, which is the same in any batch.
        self._children = np.stack([whole.left, whole.right], 1) - numbers
        self._is_leaf = whole.left == NO_CHILD
        self._words = whole.word.astype(np.int64)
        self._labels = whole.label.astype(np.int64)
        self._are_labeled = bool(np.all(self._labels >= 0))
        self._starts, self._sizes = trees.starts, trees.sizes.astype(np.int64)
        self._at_nodes = loss_at == "nodes"
        self._last_use = np.empty(words, np.int64)

    def batch(self, trees: np.ndarray) -> Levels:
        """Returns some trees in levels.

        Args:
            trees: int[batch size]: the numbers of the trees.
        """
        sizes = self._sizes[trees]
        ends = np.cumsum(sizes)
        count = len(trees)
        nodes = np.repeat(self._starts[trees] - (ends - sizes), sizes)
        nodes += np.arange(len(nodes))
        heights = self._heights[nodes]
        order = heights.argsort(kind="stable")
        level_sizes = np.bincount(heights)
        leaves, inner = order[: level_sizes[0]], order[level_sizes[0] :]

        words, leaf_rows = self._distinct(self._words[nodes[leaves]])
        row_of = np.empty(len(nodes), np.int64)
        row_of[leaves] = leaf_rows
        row_of[inner] = np.arange(len(words), len(words) + len(inner))
        children = (self._children[nodes[inner]] + inner[:, None]).ravel()
        slot_of = np.empty(len(nodes), np.int64)
        slot_of[children] = np.arange(count, count + len(children))
        slot_of[ends - 1] = np.arange(count)

        by_row = leaf_rows.astype(np.uint16 if len(words) < 2**16 else np.int64)
        uses = np.bincount(leaf_rows)
        return Levels(
            words=words,
            sizes=level_sizes[1:].tolist(),
            children=row_of[children],
            slots=slot_of[inner],
            leaf_slots=slot_of[leaves[by_row.argsort(kind="stable")]],
            leaf_starts=np.cumsum(uses) - uses,
            roots=row_of[ends - 1],
            weights=self._weights(nodes, row_of, ends - 1),
        )

    def _distinct(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the words, each once, and which of them each was. Sorts nothing."""
        places = np.arange(len(words))
        self._last_use[words] = places
        last = self._last_use[words]
        is_last = last == places
        rank = np.cumsum(is_last) - 1
        return words[is_last], rank[last]

    def _weights(
        self, nodes: np.ndarray, row_of: np.ndarray, roots: np.ndarray
    ) -> np.ndarray:
        if self._at_nodes:
            rows, labels, count = row_of, self._labels[nodes], int(row_of.max()) + 1
        else:
            rows, labels = np.arange(len(roots)), self._labels[nodes[roots]]
            count = len(roots)
        if not self._are_labeled:
            rows, labels = rows[labels >= 0], labels[labels >= 0]
        uses = np.bincount(rows * CLASSES + labels, minlength=count * CLASSES)
        return (uses * (-1 / len(roots))).astype(np.float32).reshape(count, CLASSES)
