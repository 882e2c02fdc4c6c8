"""The recursion over given trees: from each word's state to those it leads to."""

import tensorflow as tf

import recursive_tf as rtf
from models.dependency.cells import Cell, state_of_root
from models.dependency.edges import Edges
from models.dependency.walk import follow_edges
from recursive_tf.data import Forest


def states_of(forest: Forest, edges: Edges, cell: Cell, executor: str) -> tf.Tensor:
    """Returns h of every word, [num_nodes, units].

    It follows from the words before it on the way from the root. Which word it is, and
    which edges it has, is read off h outside of the recursion, for all words at once.
    """
    num_nodes = forest.num_nodes

    @rtf.subgraph(executor=executor)
    def visit(node, state):
        visit.push("h", state.h, index=node, size=num_nodes)
        word, side = tf.gather(forest.tokens, node), tf.gather(edges.side, node)
        to, exists = tf.gather(edges.to, node), tf.gather(edges.exist, node)
        go_on = lambda number, after: visit(to[number], after)  # noqa: E731
        return follow_edges(cell, state, word, side, exists, go_on)

    @rtf.subgraph(executor=executor)
    def visit_tree(root):
        return visit(root, state_of_root(cell)).count

    _, pushed = visit_tree.map(forest.roots, with_pushed=True)
    return pushed["h"]
