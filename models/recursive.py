"""The TreeLSTM as a recursive program: a node's state is made from its children's."""

from typing import Any

import tensorflow as tf

import recursive_tf as rtf
from models.cells import State, TreeLSTMCell
from recursive_tf.data import Forest


def encode(
    forest: Forest, cell: TreeLSTMCell, **choices: Any
) -> tuple[State, tf.Tensor]:
    """Runs a cell over every node of a forest.

    Args:
        forest: The trees.
        cell: What a node computes.
        **choices: Of the SubGraph, e.g. its executor.

    Returns:
        The states of the roots, each float32[num_trees, hidden], and `h` of every
        node, float32[num_nodes, hidden].
    """
    with rtf.SubGraph("tree_lstm", **choices) as tree_lstm:
        node = tree_lstm.input(tf.int32)

        def leaf() -> State:
            return cell.leaf(cell.embed(tf.gather(forest.tokens, node)))

        def internal() -> State:
            left = tf.gather(forest.left, node)
            right = tf.gather(forest.right, node)
            return cell(tree_lstm(left), tree_lstm(right))

        state = tf.cond(tf.gather(forest.left, node) < 0, leaf, internal)
        tree_lstm.push("h", state.h, index=node, size=forest.num_nodes)
        tree_lstm.output(state)

    roots, pushed = tree_lstm.map(forest.roots, with_pushed=True)
    return roots, pushed["h"]
