"""Trees taken from a forest whose values are there, by NumPy.

It is what `rows.arrays_of_trees` computes, at a fifth of what TensorFlow takes to run
its few ops eagerly, which is as long as a small step of training.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from recursive_tf.data import rows

if TYPE_CHECKING:
    from recursive_tf.data.forest import Forest


def is_in_memory(forest: Forest) -> bool:
    """Returns whether NumPy reads the arrays without a copy, and quickly.

    It does not read ragged children and strings, nor what is on another device.
    """
    if not (tf.executing_eagerly() and forest.is_binary):
        return False
    return all(
        array.dtype.is_numpy_compatible
        and array.dtype != tf.string
        and array.device.endswith("CPU:0")
        for array in (forest.roots, forest.sizes, *rows.arrays_of(forest).values())
    )


def arrays_of_trees(forest: Forest, trees: np.ndarray) -> rows.Arrays:
    """Returns the arrays of a forest of some trees, in the order given.

    Args:
        forest: A batch that is in memory.
        trees: int[k], from 0.
    """
    all_sizes = np.asarray(forest.sizes)
    sizes = all_sizes[trees]
    first_rows = np.cumsum(all_sizes, dtype=np.int32) - all_sizes
    shift = np.cumsum(sizes, dtype=np.int32) - sizes - first_rows[trees]
    shift_of_rows = np.repeat(shift, sizes)
    taken = np.arange(len(shift_of_rows)) - shift_of_rows

    def moved(link: Any) -> tf.Tensor:
        link = np.asarray(link)[taken]
        return tf.constant(np.where(link == rows.NO_CHILD, link, link + shift_of_rows))

    return {
        "roots": tf.constant(np.asarray(forest.roots)[trees] + shift),
        "sizes": tf.constant(sizes),
        **{
            name: tf.constant(np.asarray(array)[taken])
            for name, array in rows.plain_rows(forest).items()
        },
        **{name: moved(link) for name, link in rows.links(forest).items()},
    }
