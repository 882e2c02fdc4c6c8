"""What a tree begins with that is to be completed; of a new tree, nothing."""

from typing import NamedTuple

import tensorflow as tf

import recursive_tf as rtf
from models.dependency.cells import NO_WORD
from models.dependency.edges import NONE, edges_of
from recursive_tf.data import Forest
from recursive_tf.layers import EDGES


class Prefixes(NamedTuple):
    """Given words, and after them a node that stands for one that is not given.

    Attributes:
        roots: int32[num_trees].
        words: int32[num_nodes + 1]; of the last node, no word.
        to: int32[num_nodes + 1, 4]: the node at the end of each edge, as `EDGES`; where
            there is none, the last node.
        spans: int32[num_nodes + 1]: how many given words there are from each on.
    """

    roots: tf.Tensor
    words: tf.Tensor
    to: tf.Tensor
    spans: tf.Tensor


def prefixes_of(forest: Forest, executor: str) -> Prefixes:
    """Returns the words of trees that are to be completed."""
    to = edges_of(forest).to
    last = forest.num_nodes
    to = tf.where(to == NONE, last, to)
    return Prefixes(
        forest.roots,
        tf.concat([forest.tokens, [NO_WORD]], 0),
        tf.concat([to, tf.fill([1, len(EDGES)], last)], 0),
        tf.concat([_spans(forest, to, executor), [0]], 0),
    )


def no_prefixes(num_trees: tf.Tensor) -> Prefixes:
    """Returns what trees begin with of which nothing is given."""
    return Prefixes(
        tf.zeros([num_trees], tf.int32),
        tf.constant([NO_WORD]),
        tf.zeros([1, len(EDGES)], tf.int32),
        tf.zeros([1], tf.int32),
    )


def _spans(forest: Forest, to: tf.Tensor, executor: str) -> tf.Tensor:
    """Returns how many words there are from each on."""
    num_nodes = forest.num_nodes

    @rtf.subgraph(executor=executor)
    def span(node: tf.int32) -> tf.int32:
        count = tf.constant(1)
        for edge in range(len(EDGES)):
            if to[node, edge] < num_nodes:
                count += span(to[node, edge])
        span.push("span", count, index=node, size=num_nodes)
        return count

    _, pushed = span.map(forest.roots, with_pushed=True)
    return pushed["span"]
