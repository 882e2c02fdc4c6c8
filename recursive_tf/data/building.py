"""Makes forests of trees in Python lists."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from recursive_tf.data.errors import ForestError
from recursive_tf.data.forest import Forest
from recursive_tf.data.rows import NO_CHILD
from recursive_tf.data.tree import MISSING, Tree

LEFT_AND_RIGHT = 2


def forest_of(trees: Sequence[Tree], binary: bool | None = None) -> Forest:
    """Returns a batch of trees.

    Args:
        trees: At least one.
        binary: Whether nodes get a left and a right child, or else a list of children.
            Not given: left and right, if every node has no child or two.

    Raises:
        ForestError: If there is no tree, if a node cannot have a left and a right
            child, or if tokens, labels or features have several types.
    """
    if not trees:
        raise ForestError("There is no tree: expected at least one.")
    sizes = np.array([len(tree) for tree in trees], np.int32)
    starts = np.cumsum(sizes, dtype=np.int32) - sizes
    counts = np.fromiter(map(len, _all(tree.children for tree in trees)), np.int32)
    flat = np.fromiter(_all(_all(tree.children for tree in trees)), np.int32)
    flat += np.repeat(np.repeat(starts, sizes), counts)
    if binary is None:
        binary = bool(np.isin(counts, (0, LEFT_AND_RIGHT)).all())
    links = _left_right(flat, counts, sizes) if binary else _children(flat, counts)
    labels = list(_all(tree.labels for tree in trees))
    has_labels = any(label is not None for label in labels)
    names = dict.fromkeys(_all(tree.features for tree in trees))
    return Forest(
        roots=np.array([tree.root for tree in trees], np.int32) + starts,
        sizes=sizes,
        tokens=column(_all(tree.tokens for tree in trees), "tokens"),
        labels=column(labels, "labels") if has_labels else None,
        features={
            name: column(_all(_feature(tree, name) for tree in trees), name)
            for name in names
        },
        **links,
    )


def column(values: Iterable[Any], name: str) -> tf.Tensor:
    """Returns a tensor of values of one type; None becomes `""`, -1 or NaN.

    Raises:
        ForestError: If they are of several types.
    """
    values = list(values)
    given = {type(value) for value in values} - {type(None)}
    if not given:
        given = {int}
    if given == {int, float}:
        given = {float}
    if given == {str, bytes}:
        given = {str}
    if len(given) > 1:
        types = ", ".join(sorted(type_.__name__ for type_ in given))
        raise ForestError(f"{name} must be of one type in all nodes. Got {types}.")
    missing = MISSING.get(given.pop())
    try:
        return tf.convert_to_tensor([missing if v is None else v for v in values])
    except (TypeError, ValueError) as error:
        raise ForestError(f"{name} cannot be a tensor: {error}") from None


def _feature(tree: Tree, name: str) -> list[Any]:
    return tree.features.get(name, [None] * len(tree))


def _all(lists: Iterable[Iterable[Any]]) -> Iterable[Any]:
    return itertools.chain.from_iterable(lists)


def _children(flat: np.ndarray, counts: np.ndarray) -> dict[str, Any]:
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
