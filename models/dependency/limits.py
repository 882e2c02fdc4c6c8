"""Where trees end that a model would go on with."""

from typing import NamedTuple

import tensorflow as tf

from recursive_tf.layers import EDGES

# Edges to dependents; those to words beside this one are at the same depth.
GOES_DOWN = [edge in ("left", "right") for edge in EDGES]


class Limits(NamedTuple):
    """Limits on each tree. What is given of it stays, whatever they are.

    A limit on words has to be shared out, because a tree grows everywhere at once: a
    word takes one of the places that it has; each of its new edges gets one, in order,
    as long as there are any; and what is left is shared evenly among its edges. So a
    tree may be cut before it has `max_nodes` words, where it is deep; by the default,
    one of a few dozen words hardly ever is.

    Attributes:
        max_depth: Words so far below the root get no new dependents.
        max_nodes: The places of a tree.
    """

    max_depth: int = 20
    max_nodes: int = 4096

    def check(self, num_trees: int) -> None:
        """Raises a ValueError if there cannot be so many trees with these limits."""
        if self.max_depth < 0 or self.max_nodes < 1 or num_trees < 1:
            raise ValueError(
                f"{num_trees} trees within {self}: expected at least one tree, a "
                "max_depth of 0 or more, and a max_nodes of 1 or more."
            )
        if num_trees * self.max_nodes > tf.int32.max:
            raise ValueError(
                f"{num_trees} trees of {self.max_nodes} places at once are too many. "
                "Make them in batches, or lower max_nodes."
            )

    def share(
        self, places: tf.Tensor, depth: tf.Tensor, kept: tf.Tensor, wanted: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Shares the places of a word out among its edges; in a body.

        Args:
            places: How many it has, for itself and all words behind its edges.
            depth: Its depth.
            kept: How many given words there are behind each edge, int32[4].
            wanted: Which edges there are to be besides, bool[4].

        Returns:
            The places of each edge, int32[4], 0 where there is none; and how many
            wanted edges are cut.
        """
        wanted = tf.logical_and(wanted, kept == 0)
        is_deep = tf.logical_and(depth >= self.max_depth, GOES_DOWN)
        new = tf.cast(tf.logical_and(wanted, tf.logical_not(is_deep)), tf.int32)
        left = places - 1 - tf.reduce_sum(kept)
        new *= tf.cast(tf.cumsum(new) <= left, tf.int32)
        left -= tf.reduce_sum(new)
        exists = tf.cast(kept + new > 0, tf.int32)
        count = tf.maximum(tf.reduce_sum(exists), 1)
        # What cannot be shared evenly goes to the first edges.
        more = tf.cast(tf.cumsum(exists) <= left % count, tf.int32)
        cut = tf.reduce_sum(tf.cast(wanted, tf.int32) - new)
        return kept + new + exists * (left // count + more), cut
