"""Cells of every kind, the forests that they take, and an oracle for both."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

import recursive_tf as rtf

SIZE = 3  # Of x.
UNITS = 4


class Kind(NamedTuple):
    """A kind of cell.

    Attributes:
        make: Returns one with these choices.
        x: How long x is.
        nested: Which of FORESTS it takes.
    """

    make: Callable[..., Any]
    x: int = SIZE
    nested: str = "binary"


KINDS = {
    "TreeRNN": Kind(lambda **c: rtf.layers.TreeRNNCell(UNITS, **c), UNITS),
    "RNTN": Kind(lambda **c: rtf.layers.RNTNCell(UNITS, **c), UNITS),
    "MVRNN": Kind(lambda **c: rtf.layers.MVRNNCell(UNITS, **c), UNITS * (1 + UNITS)),
    "TreeLSTM": Kind(lambda **c: rtf.layers.TreeLSTMCell(UNITS, **c)),
    "TreeGRU": Kind(lambda **c: rtf.layers.TreeGRUCell(UNITS, **c)),
    "Nary": Kind(lambda **c: rtf.layers.NaryTreeLSTMCell(UNITS, 3, **c), SIZE, "three"),
    "ChildSum": Kind(
        lambda **c: rtf.layers.ChildSumTreeLSTMCell(UNITS, **c), SIZE, "any"
    ),
}

FORESTS = {
    "binary": {
        "a leaf": ["a"],
        "a tree": [["a", ["b", "c"]]],
        "a chain": [[[[["a", "b"], "c"], "d"], "e"]],
        "several": [["a", ["b", "c"]], "d", [["e", "f"], ["g", "h"]]],
    },
    "three": {
        "a leaf": ["a"],
        "a tree": [["a", ["b"], ["c", "d", "e"]]],
        "a chain": [[[[["a"]]]]],
        "several": [["a", ["b", "c"]], "d", [["e"], "f", ["g", "h"]]],
    },
    "any": {
        "a leaf": ["a"],
        "a tree": [["a", ["b"], ["c", "d", "e", "f", "g"]]],
        "a chain": [[[[["a"]]]]],
        "several": [["a", ["b", "c"]], "d", [["e"], "f", ["g", "h"], "i", "j"]],
    },
}


def forest_of(kind: Kind, name: str) -> rtf.data.Forest:
    """Returns a batch of trees that a kind of cell takes."""
    nested = FORESTS[kind.nested][name]
    return rtf.data.from_nested(nested, binary=kind.nested == "binary")


def inputs_of(forest: rtf.data.Forest, size: int) -> tf.Variable:
    """Returns what each node takes."""
    random = np.random.default_rng(0)
    shape = [int(forest.num_nodes), size]
    return tf.Variable(random.normal(size=shape) / 2, dtype=tf.float64)


def random_weights(layer: Any) -> None:
    """Gives every weight, also biases, a value that shows in the result."""
    random = np.random.default_rng(1)
    layer.set_weights([random.normal(size=w.shape) / 2 for w in layer.get_weights()])


def children_of(forest: rtf.data.Forest) -> list[list[int]]:
    """Returns the children of each node."""
    return forest.with_children().children.to_list()


def node_by_node(cell: Any, forest: rtf.data.Forest, x: Any) -> list[Any]:
    """Returns the state of every node: the cell called for one after the other."""
    links = children_of(forest)
    takes_x = getattr(cell, "inputs_at", "leaves") == "nodes"
    states: dict[int, Any] = {}

    def visit(node: int) -> Any:
        below = [visit(child) for child in links[node]]
        own = tf.gather(x, node)
        states[node] = (
            cell(joined(cell, below), own if takes_x else None)
            if below
            else cell.leaf(own)
        )
        return states[node]

    for root in np.atleast_1d(forest.roots):
        visit(int(root))
    return [states[node] for node in range(len(links))]


def joined(cell: Any, below: list[Any]) -> Any:
    """Returns states of children as a cell takes them."""
    count = getattr(cell, "num_children", 2)
    if count is None:
        return tf.nest.map_structure(lambda *s: tf.stack(s), *below)
    zeros = tf.nest.map_structure(tf.zeros_like, below[0])
    return tuple(below + [zeros] * (count - len(below)))


def output_of(state: Any) -> tf.Tensor:
    """Returns the first tensor of a state."""
    return tf.nest.flatten(state)[0]
