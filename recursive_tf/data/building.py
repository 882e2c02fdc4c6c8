"""Makes forests of trees in Python lists."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import tensorflow as tf

from recursive_tf.data.columns import Columns
from recursive_tf.data.errors import ForestError
from recursive_tf.data.forest import Forest
from recursive_tf.data.rows import NO_CHILD
from recursive_tf.data.tree import Tree

LEFT_AND_RIGHT = 2


def forest_of(trees: Sequence[Tree], columns: Columns) -> Forest:
    """Returns a batch of trees, at least one, with the columns that are named.

    Raises:
        ForestError: If a node cannot have a left and a right child, but should.
    """
    sizes = np.array([len(tree) for tree in trees], np.int32)
    starts = np.cumsum(sizes, dtype=np.int32) - sizes
    lists = list(chain.from_iterable(tree.children for tree in trees))
    counts = np.fromiter(map(len, lists), np.int32, len(lists))
    flat = np.fromiter(chain.from_iterable(lists), np.int32)
    flat += np.repeat(np.repeat(starts, sizes), counts)
    links = _left_right(flat, counts, sizes) if columns.binary else _lists(flat, counts)
    return Forest(
        roots=np.array([tree.root for tree in trees], np.int32) + starts,
        sizes=sizes,
        **columns.tensors(trees),
        **links,
    )


def guessed_forest_of(trees: Sequence[Tree], binary: bool | None) -> Forest:
    """Returns a batch of trees with all that they have.

    Args:
        trees: At least one.
        binary: Whether nodes get a left and a right child, or else a list of children.
            Not given: left and right, if every node has no child or two.

    Raises:
        ForestError: If there is no tree, if a node cannot have a left and a right
            child, or if tokens, labels or a feature have several types.
    """
    if not trees:
        raise ForestError("There is no tree: expected at least one.")
    if binary is None:
        lists = chain.from_iterable(tree.children for tree in trees)
        binary = all(len(children) in (0, LEFT_AND_RIGHT) for children in lists)
    return forest_of(trees, Columns.of(trees, binary))


def _lists(flat: np.ndarray, counts: np.ndarray) -> dict[str, Any]:
    lists = tf.RaggedTensor.from_row_lengths(flat, counts.astype(np.int64))
    return {"children": lists}


def _left_right(
    flat: np.ndarray, counts: np.ndarray, sizes: np.ndarray
) -> dict[str, Any]:
    for node in np.flatnonzero((counts != 0) & (counts != LEFT_AND_RIGHT)):
        tree = int(np.searchsorted(np.cumsum(sizes), node, side="right"))
        raise ForestError(
            f"tree {tree}, node {node} has {counts[node]} children. To have left and "
            "right ones, every node must have no child or two; say binary=False."
        )
    pairs = np.full([len(counts), LEFT_AND_RIGHT], NO_CHILD, np.int32)
    pairs[counts > 0] = flat.reshape([-1, LEFT_AND_RIGHT])
    return {"left": pairs[:, 0], "right": pairs[:, 1]}
