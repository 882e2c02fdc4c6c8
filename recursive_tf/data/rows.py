"""The arrays of a forest, and what becomes of them where trees are taken or moved.

A forest has arrays of two kinds with a row for each node: plain rows (tokens, labels,
features), and links, whose values are nodes. Where a tree moves, its links change by
as much as its first node does; plain rows never change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from recursive_tf.data.fused import fused

if TYPE_CHECKING:
    from recursive_tf.data.forest import Forest

NO_CHILD = -1

Arrays = dict[str, Any]
FEATURE = "feature:"  # Followed by its name: keys of arrays that are features.


def plain_rows(forest: Forest) -> Arrays:
    """Returns tokens, labels if there are any, and features, by name."""
    arrays = {"tokens": forest.tokens}
    if forest.labels is not None:
        arrays["labels"] = forest.labels
    return arrays | {FEATURE + name: rows for name, rows in forest.features.items()}


def links(forest: Forest) -> Arrays:
    """Returns `left` and `right`, or `children`."""
    if forest.is_binary:
        return {"left": forest.left, "right": forest.right}
    return {"children": forest.children}


def arrays_of(forest: Forest) -> Arrays:
    """Returns all arrays with a row a node, by name."""
    return plain_rows(forest) | links(forest)


def as_arguments(arrays: Mapping[str, Any]) -> Arrays:
    """Returns arguments of `Forest` for arrays with the names that are used here."""
    arguments = {k: v for k, v in arrays.items() if not k.startswith(FEATURE)}
    arguments["features"] = {
        key.removeprefix(FEATURE): value
        for key, value in arrays.items()
        if key.startswith(FEATURE)
    }
    return arguments


def map_rows(forest: Forest, of_rows: Callable[[Any], Any], shift: Any) -> Arrays:
    """Returns all arrays with a row a node, after a change of their rows.

    Args:
        forest: Where they are from.
        of_rows: Takes rows from an array, e.g. gathers some.
        shift: int32, for each row that is then there, or for all: what is added to its
            links.
    """
    moved = {name: move(of_rows(rows), shift) for name, rows in links(forest).items()}
    return {name: of_rows(rows) for name, rows in plain_rows(forest).items()} | moved


def move(link: Any, shift: Any) -> Any:
    """Returns links to nodes whose numbers are more by `shift`; none stays none."""
    if isinstance(link, tf.RaggedTensor):
        if shift.shape.rank:
            shift = tf.gather(shift, link.value_rowids())
        return link.with_flat_values(link.flat_values + shift)
    return tf.where(link == NO_CHILD, NO_CHILD, link + shift)


def starts(sizes: tf.Tensor) -> tf.Tensor:
    """Returns the first node of each tree, int32[num_trees]."""
    return tf.cumsum(sizes, exclusive=True)


def repeat(values: tf.Tensor, sizes: tf.Tensor) -> tf.Tensor:
    """Returns the value of each node's tree, in a few ops; `tf.repeat` has 20."""
    rows = tf.range(tf.reduce_sum(sizes))
    trees = tf.raw_ops.UpperBound(
        sorted_inputs=tf.cumsum(sizes)[tf.newaxis], values=rows[tf.newaxis]
    )
    return tf.gather(values, trees[0])


@fused
def arrays_of_trees(forest: Forest, trees: tf.Tensor) -> Arrays:
    """Returns the arrays of a forest of some trees, in the order given.

    A few ops, whatever the number of trees.

    Args:
        forest: A batch.
        trees: int32[k], from 0.
    """
    sizes, shift, shift_of_rows = _shifts(forest, trees)
    rows = tf.range(tf.size(shift_of_rows)) - shift_of_rows
    return {
        "roots": tf.gather(forest.roots, trees) + shift,
        "sizes": sizes,
        **map_rows(forest, lambda array: tf.gather(array, rows), shift_of_rows),
    }


def nodes_of_trees(forest: Forest, trees: tf.Tensor) -> tf.Tensor:
    """Returns the nodes that some trees of a batch have, in the order given, int32."""
    _, _, shift_of_rows = _shifts(forest, trees)
    return tf.range(tf.size(shift_of_rows)) - shift_of_rows


def _shifts(forest: Forest, trees: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Returns the sizes of some trees, and how far each of them and its nodes move."""
    sizes = tf.gather(forest.sizes, trees)
    shift = starts(sizes) - tf.gather(starts(forest.sizes), trees)
    return sizes, shift, repeat(shift, sizes)


@fused
def arrays_of_tree(forest: Forest, tree: tf.Tensor) -> Arrays:
    """Returns the arrays of one tree of a batch, `tree` a scalar."""
    size = forest.sizes[tree]
    start = tf.reduce_sum(forest.sizes[:tree])
    return {
        "roots": forest.roots[tree] - start,
        "sizes": size,
        **map_rows(forest, lambda array: array[start : start + size], -start),
    }
