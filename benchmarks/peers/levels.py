"""Batches whose rows stand in levels: what a program by hand gives its kernels.

All nodes of a level are computed at once, when those below are. NumPy alone.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from benchmarks.works.work import CLASSES, Work


@dataclasses.dataclass(frozen=True)
class Levels:
    """A batch as rows: first those of words, then inner nodes, lower ones first.

    So a level is a slice, and children stand before their parents.

    Attributes:
        words: int32[num_words]: the word of each of the first rows.
        children: int32[num_inner, 2]: the rows of the children of the others.
        sizes: int32[num_levels]: how many inner nodes each level has.
        rows: int32[num_losses]: the rows that have losses. With losses at all nodes, it
            is all rows, in order.
        targets: float32[num_losses, classes]: how many nodes of the row have each
            class, divided by the number of trees. So the loss is the sum of
            -targets * log(probabilities).
    """

    words: np.ndarray
    children: np.ndarray
    sizes: np.ndarray
    rows: np.ndarray
    targets: np.ndarray


class Leveler:
    """Makes such batches of a treebank, of whose nodes it keeps the heights.

    Not safe for threads: a table of all words is written by every call.

    Args:
        work: Whose trees they are.
        share: Whether leaves with the same word are one row.
    """

    def __init__(self, work: Work, share: bool) -> None:
        trees = work.trees
        self._trees = trees
        self._at_nodes = work.recursion.loss_at == "nodes"
        self._share = share
        # Two bytes: NumPy sorts them in linear time.
        all_trees = trees.batch(np.arange(len(trees)))
        self._heights = all_trees.heights().astype(np.int16)
        self._children = np.stack([trees.left, trees.right], 1).astype(np.int64)
        self._slots = np.zeros(len(work.weights["embedding"]), np.int32)

    def __call__(self, trees: np.ndarray) -> Levels:
        """Returns the batch of some trees."""
        sizes = self._trees.sizes[trees].astype(np.int64)
        ends = np.cumsum(sizes)
        firsts = ends - sizes
        shifts = np.repeat(self._trees.starts[trees] - firsts, sizes)
        nodes = np.arange(ends[-1]) + shifts
        heights = self._heights[nodes]
        order = np.argsort(heights, kind="stable")
        counts = np.bincount(heights)
        leaves, inner = order[: counts[0]], order[counts[0] :]
        words, slots = self._rows_of_words(self._trees.word[nodes[leaves]])
        row_of = np.empty(len(nodes), np.int32)
        row_of[leaves] = slots
        row_of[inner] = np.arange(len(words), len(words) + len(inner))
        children = self._children[nodes[inner]]
        children += np.repeat(firsts, sizes)[inner, None]
        rows, targets = self._losses(nodes, row_of, ends - 1)
        return Levels(
            words=words,
            children=row_of[children],
            sizes=counts[1:].astype(np.int32),
            rows=rows,
            targets=targets,
        )

    def _rows_of_words(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the word of each row, and the row of each word."""
        numbers = np.arange(len(words), dtype=np.int32)
        if not self._share:
            return words, numbers
        # One of equal words stays in the table. No sort, unlike np.unique.
        self._slots[words] = numbers
        distinct = words[self._slots[words] == numbers]
        self._slots[distinct] = numbers[: len(distinct)]
        return distinct, self._slots[words]

    def _losses(
        self, nodes: np.ndarray, row_of: np.ndarray, roots: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns which rows have losses, and their targets."""
        labels = self._trees.label[nodes]
        if self._at_nodes:
            rows, places = np.arange(row_of.max() + 1, dtype=np.int32), row_of
        else:
            rows, places = row_of[roots], np.arange(len(roots))
            labels = labels[roots]
        classes = len(rows) * CLASSES
        targets = np.bincount(places * CLASSES + labels, minlength=classes)
        targets = (targets / np.float32(len(roots))).astype(np.float32)
        return rows, targets.reshape(len(rows), CLASSES)
