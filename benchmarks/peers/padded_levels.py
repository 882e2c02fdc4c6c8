"""Batches of binary trees for programs whose shapes must not vary. NumPy alone.

A node's row: leaves first, then the others by height, so that a level (all nodes of a
height) is a slice. The number of rows is rounded up, so that few shapes occur. A level
is not padded: a program that computes a few rows more than the level has computes rows
of the next one too soon. On the way up, the next level computes them again, and on the
way down they have been computed and become what they were. So a level costs the next
larger of `WIDTHS`, whatever its place. As each node has one parent, the gradient of a
row is found where the parent left it: nothing is scattered.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from benchmarks.works.trees import Trees

# How many rows a level's program computes: each a program of its own to compile. No
# level is wider than the one below, so levels of a width follow each other. None is one
# row wide: a gather of one row becomes a slice, which XLA fuses with what reads it, and
# it then copies the whole array, since the level also writes into it.
WIDTHS = (2, 4, 8, 16, 32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768)
WIDTHS += (1024, 1280, 1536, 2048)
# Numbers of leaves are rounded up to one of so many within a power of two.
STEPS = 4
LEAST = 4
LEVEL_STEP = 32


class Shape(NamedTuple):
    """What a program is compiled for.

    Attributes:
        trees: How many.
        leaves: Rows of leaves.
        internal: Rows of other nodes.
        levels: Numbers of `Batch.starts`.
        widths: How many rows each program of a level computes, widest first.
    """

    trees: int
    leaves: int
    internal: int
    levels: int
    widths: tuple[int, ...]

    @property
    def rows(self) -> int:
        """Rows of nodes, and spare ones."""
        return self.leaves + self.inner

    @property
    def inner(self) -> int:
        """Internal rows, and spare ones."""
        return self.internal + self.spare

    @property
    def spare(self) -> int:
        """Rows behind these that a level may compute needlessly."""
        return max(self.widths, default=0)


@dataclasses.dataclass(frozen=True)
class PaddedBatch:
    """Some trees.

    Attributes:
        shape: What follows has fixed lengths for it.
        numbers: int32[sum of them]: all that follows, one after the other, as `FIELDS`
            says. A program gets one array, since each costs time.
    """

    shape: Shape
    numbers: np.ndarray


class Fields(NamedTuple):
    """What `PaddedBatch.numbers` consists of; rows are those of `Shape`.

    Attributes:
        words: [leaves]: the words of the leaves, sorted out: no word twice. Behind them
            a number beyond all words.
        word_of: [leaves]: of each leaf, which of `words`; for padding the last.
        label: [rows]: -1 where there is none.
        slot: [rows]: where a node's gradient is, 2 * internal row of the parent + 1 if
            it is the right child; for a root, 2 * inner + number of its tree; for
            padding the last of all.
        children: [2 * inner]: rows of left and right, by turns.
        root: [trees]: rows of the roots.
        starts: [levels]: the first internal row of each level above the leaves.
        phases: [widths + 1]: the first level of each width, and the number of levels.
    """

    words: object
    word_of: object
    label: object
    slot: object
    children: object
    root: object
    starts: object
    phases: object


def lengths(shape: Shape) -> Fields:
    """Returns how many numbers each field has."""
    return Fields(
        words=shape.leaves,
        word_of=shape.leaves,
        label=shape.rows,
        slot=shape.rows,
        children=2 * shape.inner,
        root=shape.trees,
        starts=shape.levels,
        phases=len(shape.widths) + 1,
    )


def fields(shape: Shape, numbers: object) -> Fields:
    """Returns the parts of an array, of NumPy or any other."""
    ends = np.cumsum(lengths(shape)).tolist()
    starts = [0, *ends[:-1]]
    parts = zip(starts, ends, strict=True)
    return Fields(*(numbers[start:end] for start, end in parts))  # type: ignore[index]


class PaddedTrees:
    """A treebank, from which batches are taken.

    Args:
        trees: Of the treebank. Heights are those of a node in its tree, so they are
            found once.
        words: How many there are.
    """

    def __init__(self, trees: Trees, words: int) -> None:
        self._trees = trees
        self._words = words
        self._starts = trees.starts
        self._sizes = trees.sizes.astype(np.int64)
        self._heights = trees.batch(np.arange(len(trees))).heights().astype(np.int16)
        self._children = np.stack([trees.left, trees.right], 1)

    def batch(self, trees: np.ndarray) -> PaddedBatch:
        """Returns the batch of some trees.

        Args:
            trees: int[batch size]: the numbers of the trees.
        """
        sizes = self._sizes[trees]
        ends = np.cumsum(sizes)
        firsts = np.repeat(ends - sizes, sizes)
        nodes = np.repeat(self._starts[trees], sizes) + np.arange(ends[-1]) - firsts
        heights = self._heights[nodes]
        counts = np.bincount(heights)
        # NumPy sorts numbers of 16 bits by their digits.
        order = np.argsort(heights, kind="stable")
        shape, starts, phases = _shape(len(trees), counts)

        internal = order[counts[0] :]
        row = np.empty(len(nodes), np.int64)
        row[order] = np.arange(len(nodes))
        row[internal] += shape.leaves - counts[0]
        sorted_nodes = nodes[order]
        children = self._children[sorted_nodes[counts[0] :]]
        children = row[(children + firsts[internal][:, np.newaxis]).ravel()]
        roots = row[ends - 1]

        numbers = np.zeros(sum(lengths(shape)), np.int32)
        to = fields(shape, numbers)
        to.children[: len(children)] = children
        to.root[:] = roots
        slots = 2 * shape.inner
        to.slot[:] = slots + shape.trees
        to.slot[children] = np.arange(len(children))
        to.slot[roots] = slots + np.arange(shape.trees)
        to.label[:] = -1
        label = self._trees.label[sorted_nodes]
        to.label[: counts[0]] = label[: counts[0]]
        to.label[shape.leaves : shape.leaves + len(internal)] = label[counts[0] :]
        to.starts[: len(starts)] = starts
        to.phases[:] = phases
        self._put_words(to, self._trees.word[sorted_nodes[: counts[0]]])
        return PaddedBatch(shape, numbers)

    def _put_words(self, to: Fields, words: np.ndarray) -> None:
        found, word_of = np.unique(words, return_inverse=True)
        to.words[: len(found)] = found
        to.words[len(found) :] = self._words
        to.word_of[: len(words)] = word_of
        to.word_of[len(words) :] = len(to.words) - 1


def _shape(trees: int, counts: np.ndarray) -> tuple[Shape, np.ndarray, np.ndarray]:
    """Returns the shape, the first rows of levels and the first level of each width."""
    leaves = _rounded(int(counts[0]))
    above = counts[1:]
    starts = np.cumsum(above) - above
    widest = _width(int(above[0])) if len(above) else 0
    widths = [width for width in WIDTHS if width < widest] + [widest]
    # Levels that are no wider than the next smaller width come later.
    next_smaller = np.array([*widths[::-1][1:], 0])
    first = len(above) - np.searchsorted(above[::-1], next_smaller, side="right")
    shape = Shape(
        trees,
        leaves,
        # A binary tree has one internal node less than leaves.
        leaves - trees,
        _multiple(len(above), LEVEL_STEP),
        tuple(widths[::-1]) if len(above) else (),
    )
    return shape, starts, np.array([0, *first.tolist()])


def _rounded(count: int) -> int:
    """Returns a number that is not smaller, one of `STEPS` within a power of two."""
    return _multiple(count, max(LEAST, (1 << (count - 1).bit_length()) // (2 * STEPS)))


def _width(count: int) -> int:
    for width in WIDTHS:
        if count <= width:
            return width
    return _multiple(count, WIDTHS[-1])


def _multiple(count: int, of: int) -> int:
    return -(-count // of) * of
