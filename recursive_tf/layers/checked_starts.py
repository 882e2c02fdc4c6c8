"""Where a recursion over a forest begins, once it is known to come to an end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from recursive_tf.ops import library

if TYPE_CHECKING:
    from recursive_tf.data import Forest
    from recursive_tf.layers.node_cell import NodeCell


def checked_roots(forest: Forest, cell: NodeCell, name: str, *, dag: bool) -> tf.Tensor:
    """Returns the roots of a forest, whose links are looked at when they are used.

    Child indices come from data. One that is out of range, or that leads back to its
    own node, is an error that names tree and node, before any call is made.

    Args:
        forest: A tree or a batch of trees.
        cell: What a node computes, of how many children.
        name: Of the SubGraph that runs over them.
        dag: Whether nodes may share children. Without a memo a shared child is called
            once for each way that leads to it, and there may be 2^depth of them.
    """
    return _checked(forest, cell, name, dag=dag, all_nodes=False)


def checked_nodes(
    forest: Forest, cell: NodeCell | None, name: str, *, dag: bool
) -> tf.Tensor:
    """Returns the numbers of all nodes, int32[num_nodes]; otherwise as `checked_roots`.

    A node that no root reaches is an error, too: a recursion from the roots would leave
    it out.

    Args:
        forest: A tree or a batch of trees.
        cell: What a node computes, of how many children; None if of none of them.
        name: Of the SubGraph that runs over them.
        dag: Whether nodes may share children.
    """
    return _checked(forest, cell, name, dag=dag, all_nodes=True)


def _checked(
    forest: Forest, cell: NodeCell | None, name: str, *, dag: bool, all_nodes: bool
) -> tf.Tensor:
    if forest.is_binary:
        links = [forest.left, forest.right]
        children = tf.zeros([0], tf.int32)
        splits = tf.zeros([0], tf.int64)
    else:
        links = []
        children = forest.children.values
        splits = forest.children.row_splits
    count = None if cell is None else cell.num_children
    may_miss = cell is not None and cell.may_miss_children
    checked: tf.Tensor = library.recursive_checked_roots(
        forest.roots,
        forest.sizes,
        links,
        children,
        splits,
        shared=dag,
        num_children=-1 if count is None else count,
        may_miss=may_miss,
        all_nodes=all_nodes,
        subgraph=name,
    )
    return checked
