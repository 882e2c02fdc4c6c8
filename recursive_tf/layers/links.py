"""How a forest names the children of a node, for cells that take some or any."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from recursive_tf.data import Forest
    from recursive_tf.layers.node_cell import NodeCell
    from recursive_tf.python.subgraphs.subgraph import SubGraph

PAIR = 2
NO_CHILD = -1

# Returns the states of a node's children, in a body.
VisitChildren = Callable[["SubGraph", tf.Tensor], Any]


def children_of(forest: Forest, cell: NodeCell, state: Any) -> VisitChildren:
    """Returns how the body of a recursion over a forest visits a node's children.

    Args:
        forest: Any; it need not have the kind of links that the cell asks for.
        cell: How many children it takes.
        state: The specs of a state.
    """
    if cell.num_children is None:
        lists = forest.with_children().children
        return lambda encode, node: encode.map(tf.gather(lists, node))
    slots = _slots(forest, cell.num_children)
    visit = _visit_or_zeros(state) if cell.may_miss_children else _visit
    return lambda encode, node: tuple(
        visit(encode, tf.gather(slot, node)) for slot in slots
    )


def with_parents(forest: Forest) -> Forest:
    """Returns a forest in which what is below a node are its parents.

    Args:
        forest: Whose children are nodes of it.
    """
    children = forest.with_children().children
    order = tf.argsort(children.values, stable=True)
    rows = tf.cast(children.value_rowids(), tf.int32)
    count = forest.num_nodes
    parents = tf.RaggedTensor.from_row_lengths(
        tf.gather(rows, order),
        tf.math.bincount(children.values, minlength=count, maxlength=count),
        validate=False,
    )
    return forest.replace(left=None, right=None, children=parents)


def _visit(encode: SubGraph, child: tf.Tensor) -> Any:
    return encode(child)


def _visit_or_zeros(state: Any) -> Callable[[SubGraph, tf.Tensor], Any]:
    def zeros() -> Any:
        return tf.nest.map_structure(lambda s: tf.zeros(s.shape, s.dtype), state)

    def visit(encode: SubGraph, child: tf.Tensor) -> Any:
        return tf.cond(child < 0, zeros, lambda: encode(child))

    return visit


def _slots(forest: Forest, count: int) -> list[tf.Tensor]:
    """Returns the first, second, ... child of each node, int32[num_nodes] each."""
    if forest.is_binary and count == PAIR:
        return [forest.left, forest.right]
    # Whether there are as many as the cell takes is asked where roots are checked.
    padded = forest.with_children().children.to_tensor(NO_CHILD, shape=[None, count])
    slots: list[tf.Tensor] = tf.unstack(padded, axis=1)
    return slots
