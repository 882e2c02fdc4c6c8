"""Binary trees with a label at every node, and forests of them as flat arrays."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

NO_CHILD = -1


@dataclasses.dataclass
class Tree:
    """A tree of words, built bottom-up.

    Nodes are numbered in the order in which they are added. A child is added before
    its parent, so the root is the last node and a loop over the numbers meets every
    node after its children.

    Attributes:
        words: The word of each leaf, e.g. `"film"`; the empty string inside.
        left: The number of each node's left child; `NO_CHILD` at leaves.
        right: The number of each node's right child; `NO_CHILD` at leaves.
        labels: The class of each node, e.g. 0 to 4 for five degrees of sentiment.
    """

    words: list[str] = dataclasses.field(default_factory=list)
    left: list[int] = dataclasses.field(default_factory=list)
    right: list[int] = dataclasses.field(default_factory=list)
    labels: list[int] = dataclasses.field(default_factory=list)

    def add_leaf(self, word: str, label: int) -> int:
        """Adds a leaf and returns its number."""
        return self._add(word, NO_CHILD, NO_CHILD, label)

    def add_internal(self, left: int, right: int, label: int) -> int:
        """Adds the parent of two nodes without one and returns its number."""
        return self._add("", left, right, label)

    def depth(self) -> int:
        """Returns the number of edges on the longest way down from the root."""
        depths: list[int] = []
        for left, right in zip(self.left, self.right, strict=True):
            below = -1 if left == NO_CHILD else max(depths[left], depths[right])
            depths.append(below + 1)
        return depths[-1]

    def _add(self, word: str, left: int, right: int, label: int) -> int:
        self.words.append(word)
        self.left.append(left)
        self.right.append(right)
        self.labels.append(label)
        return len(self.words) - 1


class Forest(NamedTuple):
    """Any number of trees in one set of int32 arrays, NumPy's or TensorFlow's.

    A node is a row number, the same in every array but `roots`. Children come before
    their parents.

    Attributes:
        tokens: The word of each leaf as an index into a vocabulary; unused inside.
        left: The left child of each node; `NO_CHILD` at leaves.
        right: The right child of each node; `NO_CHILD` at leaves.
        labels: The class of each node.
        roots: The root of each tree.
    """

    tokens: np.ndarray | tf.Tensor
    left: np.ndarray | tf.Tensor
    right: np.ndarray | tf.Tensor
    labels: np.ndarray | tf.Tensor
    roots: np.ndarray | tf.Tensor

    @property
    def num_nodes(self) -> tf.Tensor:
        """The number of nodes of all trees together, a scalar."""
        return tf.size(self.tokens)


FOREST_SPEC = Forest(
    *(tf.TensorSpec([None], tf.int32, name) for name in Forest._fields)
)


def join(forests: Sequence[Forest]) -> Forest:
    """Returns one forest of NumPy arrays with the trees of several, in order.

    A batch is the join of its trees, each a forest of one, so this runs once a step:
    it costs about 0.1 ms for 25 trees of 37 nodes.
    """
    sizes = [len(forest.tokens) for forest in forests]
    offsets = np.cumsum([0, *sizes[:-1]], dtype=np.int32)
    tokens, left, right, labels, roots = (
        np.concatenate(arrays) for arrays in zip(*forests, strict=True)
    )
    shift = np.repeat(offsets, sizes)
    num_roots = [len(forest.roots) for forest in forests]
    return Forest(
        tokens,
        np.where(left == NO_CHILD, NO_CHILD, left + shift),
        np.where(right == NO_CHILD, NO_CHILD, right + shift),
        labels,
        roots + np.repeat(offsets, num_roots),
    )
