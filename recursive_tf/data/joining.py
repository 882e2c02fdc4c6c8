"""Puts forests one after the other."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.data import rows
from recursive_tf.data.errors import ForestError
from recursive_tf.data.forest import Forest


def concat(forests: Sequence[Forest]) -> Forest:
    """Returns a batch of all trees of several forests, in order.

    >>> tree = Forest(tokens=[5, 6, 0], left=[-1, -1, 0], right=[-1, -1, 1], roots=2)
    >>> concat([tree, tree]).left.numpy()
    array([-1, -1,  0, -1, -1,  3], dtype=int32)

    Args:
        forests: Trees and batches, at least one. All have the same arrays.

    Raises:
        ForestError: If there are none, or their arrays differ.
    """
    if not forests:
        raise ForestError("There is no forest to put together: expected at least one.")
    names = [sorted(rows.arrays_of(forest)) for forest in forests]
    if any(other != names[0] for other in names):
        other = next(other for other in names if other != names[0])
        raise ForestError(
            "Forests that are put together must have the same arrays. Got "
            f"{', '.join(names[0])}; and {', '.join(other)}."
        )
    sizes = tf.stack([forest.num_nodes for forest in forests])
    shifts = tf.unstack(rows.starts(sizes), len(forests))
    parts = [_moved(*pair) for pair in zip(forests, shifts, strict=True)]
    joined = {name: tf.concat([part[name] for part in parts], 0) for name in parts[0]}
    return Forest(**rows.as_arguments(joined))


def _moved(forest: Forest, shift: tf.Tensor) -> dict[str, Any]:
    return {
        "roots": tf.reshape(forest.roots, [-1]) + shift,
        "sizes": tf.reshape(forest.sizes, [-1]),
        **rows.map_rows(forest, tf.identity, shift),
    }
