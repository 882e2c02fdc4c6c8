"""Binary trees as flat arrays, and batches of them."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

NO_CHILD = -1
# How far before a leaf its children stand, so that the sum is below NO_CHILD.
_FAR = np.int32(-(2**30))


@dataclasses.dataclass(frozen=True)
class Trees:
    """A treebank, its trees one after the other.

    The nodes of a tree stand together, children before parents, so the root is the
    last one. A child is the number of a node within its tree.

    Attributes:
        left: int32[num_nodes]: the left child; -1 at a leaf.
        right: As `left`.
        word: int32[num_nodes]: the word of a leaf; 0 elsewhere.
        label: int32[num_nodes]: the class of each node.
        sizes: int32[num_trees]: how many nodes each tree has.
    """

    left: np.ndarray
    right: np.ndarray
    word: np.ndarray
    label: np.ndarray
    sizes: np.ndarray

    def __len__(self) -> int:
        return len(self.sizes)

    @functools.cached_property
    def starts(self) -> np.ndarray:
        """The first node of each tree, int64[num_trees]."""
        return np.cumsum(self.sizes, dtype=np.int64) - self.sizes

    @functools.cached_property
    def _rows(self) -> np.ndarray:
        """Of each node how far before it its children stand, its word and its label.

        int32[4, num_nodes]. It is the same in any batch, so a batch is one look-up.
        """
        number = np.arange(len(self.left)) - np.repeat(self.starts, self.sizes)
        children = [
            np.where(child == NO_CHILD, _FAR, child - number)
            for child in (self.left, self.right)
        ]
        return np.stack([*children, self.word, self.label]).astype(np.int32)

    def batch(self, trees: np.ndarray) -> Batch:
        """Returns the batch of some trees, in their order.

        Args:
            trees: int[batch size]: the numbers of the trees.
        """
        sizes = self.sizes[trees]
        ends = np.cumsum(sizes, dtype=np.int64)
        numbers = np.arange(ends[-1], dtype=np.int32)
        nodes = np.repeat(self.starts[trees] + sizes - ends, sizes) + numbers
        rows = self._rows.take(nodes, axis=1)
        children = rows[:2]
        children += numbers
        np.maximum(children, NO_CHILD, out=children)
        left, right, word, label = rows
        return Batch(left, right, word, label, roots=(ends - 1).astype(np.int32))


@dataclasses.dataclass(frozen=True)
class Batch:
    """Some trees, whose children are numbers of nodes within the batch.

    Attributes:
        left, right, word, label: int32[num_nodes], as of `Trees`.
        roots: int32[num_trees]: the last node of each tree.
    """

    left: np.ndarray
    right: np.ndarray
    word: np.ndarray
    label: np.ndarray
    roots: np.ndarray

    def heights(self) -> np.ndarray:
        """Returns how far above its deepest leaf each node is, int32[num_nodes].

        All nodes of a height can be computed at once when those below are. It is one
        sweep a height over the nodes that have none yet.
        """
        heights = np.zeros(len(self.left), np.int32)
        waiting = np.flatnonzero(self.left != NO_CHILD)
        is_done = self.left == NO_CHILD
        height = 0
        while len(waiting):
            height += 1
            below = is_done[self.left[waiting]] & is_done[self.right[waiting]]
            ready = waiting[below]
            heights[ready] = height
            is_done[ready] = True
            waiting = waiting[~below]
        return heights
