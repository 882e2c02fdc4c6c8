"""Lattices of characters and words as flat arrays, and batches of them."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from benchmarks.works.rows import rows_of, starts

# Of characters, and of words.
VOCABULARY = 60_000


@dataclasses.dataclass(frozen=True)
class Lattices:
    """Lattices, one after the other.

    A node is a position between characters, or a word. The children of a position are
    the one before it, and the words that end at it; the child of a word is the position
    where it begins. The first position has none. The nodes of a lattice stand together,
    children before parents, so the last position is the last one. A child is the number
    of a node within its lattice.

    Attributes:
        tokens: int32[num_nodes]: a word itself, or the character before a position; -1
            at the first position.
        is_word: int32[num_nodes]: 1 at words, 0 at positions.
        children: int32[num_links]: those of all nodes.
        counts: int32[num_nodes]: how many children each node has.
        sizes: int32[num_lattices]: how many nodes each lattice has.
    """

    tokens: np.ndarray
    is_word: np.ndarray
    children: np.ndarray
    counts: np.ndarray
    sizes: np.ndarray

    def __len__(self) -> int:
        return len(self.sizes)

    def batch(self, lattices: np.ndarray) -> Batch:
        """Returns some lattices, in their order.

        Args:
            lattices: int[batch size]: the numbers of the lattices.
        """
        sizes = self.sizes[lattices]
        nodes = rows_of(self._first_nodes, self.sizes, lattices)
        links = rows_of(self._first_links, self.counts, nodes)
        counts = self.counts[nodes]
        first = np.repeat(starts(sizes), sizes)
        return Batch(
            tokens=self.tokens[nodes],
            is_word=self.is_word[nodes],
            children=(self.children[links] + np.repeat(first, counts)).astype(np.int32),
            counts=counts,
            sizes=sizes,
        )

    @functools.cached_property
    def _first_nodes(self) -> np.ndarray:
        return starts(self.sizes)

    @functools.cached_property
    def _first_links(self) -> np.ndarray:
        return starts(self.counts)


@dataclasses.dataclass(frozen=True)
class Batch:
    """Some lattices, whose children are numbers of nodes within the batch.

    Attributes:
        tokens, is_word, children, counts, sizes: As of `Lattices`.
    """

    tokens: np.ndarray
    is_word: np.ndarray
    children: np.ndarray
    counts: np.ndarray
    sizes: np.ndarray

    @property
    def roots(self) -> np.ndarray:
        """The last position of each lattice, int32[num_lattices]."""
        return np.cumsum(self.sizes, dtype=np.int32) - 1
