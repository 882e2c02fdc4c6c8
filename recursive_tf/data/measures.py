"""What is measured of trees: how deep they are."""

import numpy as np

from recursive_tf.data.forest import Forest
from recursive_tf.data.validation import edges_of, ranges


def node_depths(forest: Forest) -> np.ndarray:
    """Returns the number of edges from each node's root to it, int32[num_nodes].

    Where nodes share children, of the longest way. A NumPy pass for each level.
    """
    parents, children = edges_of(forest)
    found = np.zeros([int(forest.num_nodes)], np.int32)
    order = np.argsort(parents, kind="stable")
    children = children[order]
    first = np.searchsorted(parents[order], np.arange(len(found) + 1))
    level = np.atleast_1d(forest.roots.numpy())
    depth = 0
    while level.size:
        found[level] = depth
        depth += 1
        level = np.unique(children[ranges(first[level], first[level + 1])])
    return found


def depths(forest: Forest) -> np.ndarray:
    """Returns the depth of each tree: the edges from its root to its deepest node."""
    starts = forest.row_splits.numpy()[:-1]
    found: np.ndarray = np.maximum.reduceat(node_depths(forest), starts)
    return found
