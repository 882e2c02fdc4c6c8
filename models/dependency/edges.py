"""The edges that a model walks along through a dependency tree, from the root down.

A word's dependents on one side are a chain: an edge "left" goes from the word to its
nearest dependent on the left, and edges "next_left" from there outwards; in the same
way to the right. So every word but the root is at the end of one edge.

Nodes stand in the order of the sentence: what says which side a dependent is on.
"""

from typing import NamedTuple

import tensorflow as tf

from recursive_tf.data import Forest
from recursive_tf.layers import EDGES

NONE = -1
# Which side of its head a word is on.
ROOT, LEFT, RIGHT = range(3)
SIDE_AFTER = {"left": LEFT, "next_left": LEFT, "right": RIGHT, "next_right": RIGHT}
# The edges that a word may have, by its side: the next one of its own side only.
MAY_HAVE = [
    [edge in ("left", "right") or SIDE_AFTER[edge] == side for edge in EDGES]
    for side in (ROOT, LEFT, RIGHT)
]


class Edges(NamedTuple):
    """The edges of all words of a forest.

    Attributes:
        to: int32[num_nodes, 4]: the word at the end of each edge, as `EDGES`; `NONE` if
            there is no such edge.
        side: int32[num_nodes]: `ROOT`, `LEFT` or `RIGHT`.
    """

    to: tf.Tensor
    side: tf.Tensor

    @property
    def exist(self) -> tf.Tensor:
        """Which edges there are, bool[num_nodes, 4]."""
        return self.to != NONE

    @property
    def may_exist(self) -> tf.Tensor:
        """Which edges there may be, bool[num_nodes, 4]."""
        return tf.gather(MAY_HAVE, self.side)


def edges_of(forest: Forest) -> Edges:
    """Returns the edges of a forest whose nodes have `children`."""
    head, word = _pairs(forest)
    is_left = word < head
    sides = tf.where(is_left, LEFT, RIGHT)
    # Two words that stand beside each other in a chain.
    beside = tf.logical_and(head[:-1] == head[1:], is_left[:-1] == is_left[1:])
    goes_left = tf.logical_and(beside, is_left[:-1])
    goes_right = tf.logical_and(beside, tf.logical_not(is_left[:-1]))
    num_nodes = forest.num_nodes
    to = {
        "left": _nearest(tf.math.unsorted_segment_max, head, word, is_left, num_nodes),
        "right": _nearest(
            tf.math.unsorted_segment_min, head, word, ~is_left, num_nodes
        ),
        "next_left": _links(word[1:], word[:-1], goes_left, num_nodes),
        "next_right": _links(word[:-1], word[1:], goes_right, num_nodes),
    }
    side = tf.scatter_nd(word[:, tf.newaxis], sides, [num_nodes])
    return Edges(tf.stack([to[edge] for edge in EDGES], axis=1), side)


def heads_of(forest: Forest) -> tf.Tensor:
    """Returns the head of every word, int32[num_nodes]; of roots, `NONE`."""
    head, word = _pairs(forest)
    return _links(word, head, tf.ones_like(word, tf.bool), forest.num_nodes)


def _pairs(forest: Forest) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns heads and their dependents, in order of both."""
    head = tf.cast(forest.children.value_rowids(), tf.int64)
    num_nodes = tf.cast(forest.num_nodes, tf.int64)
    both = tf.sort(head * num_nodes + tf.cast(forest.children.values, tf.int64))
    return tf.cast(both // num_nodes, tf.int32), tf.cast(both % num_nodes, tf.int32)


def _nearest(
    of_segment: object,
    head: tf.Tensor,
    word: tf.Tensor,
    chosen: tf.Tensor,
    num_nodes: tf.Tensor,
) -> tf.Tensor:
    """Returns one of the chosen dependents of each word, the largest or the least."""
    head, word = tf.boolean_mask(head, chosen), tf.boolean_mask(word, chosen)
    found = of_segment(word, head, num_nodes)
    has_one = tf.math.unsorted_segment_max(tf.ones_like(head), head, num_nodes) > 0
    return tf.where(has_one, found, NONE)


def _links(
    start: tf.Tensor, end: tf.Tensor, chosen: tf.Tensor, num_nodes: tf.Tensor
) -> tf.Tensor:
    """Returns the end of each node's chosen link, if it starts one."""
    start, end = tf.boolean_mask(start, chosen), tf.boolean_mask(end, chosen)
    none = tf.fill([num_nodes], NONE)
    return tf.tensor_scatter_nd_update(none, start[:, tf.newaxis], end)
