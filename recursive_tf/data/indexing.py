"""Which trees `forest[...]` names."""

import operator
from typing import Any

import numpy as np
import tensorflow as tf


def trees_at(index: Any, num_trees: tf.Tensor) -> tf.Tensor:
    """Returns the trees that an index names, int32, a scalar or a vector.

    Raises:
        IndexError: If there is no such tree, where that is known.
        TypeError: If the index is none.
    """
    if isinstance(index, slice):
        return tf.range(num_trees)[index]
    if not tf.is_tensor(index):
        index = _array(index)
    index = tf.convert_to_tensor(index)
    if index.dtype == tf.bool:
        return _chosen(index, num_trees)
    if not index.dtype.is_integer or index.shape.rank not in (0, 1):
        raise TypeError(
            "Trees are taken by a number, a slice, or a vector of numbers or bools. "
            f"Got {index.dtype.name} of shape {index.shape}."
        )
    if tf.executing_eagerly():
        return tf.constant(_from_start(index.numpy(), int(num_trees)), tf.int32)
    index = tf.cast(index, tf.int32)
    return tf.where(index < 0, index + num_trees, index)


def _array(index: Any) -> np.ndarray:
    try:
        return np.asarray(operator.index(index))
    except TypeError:
        array = np.asarray(index)
        return array if array.size else array.astype(np.int32)


def _chosen(mask: tf.Tensor, num_trees: tf.Tensor) -> tf.Tensor:
    message = "A mask needs one bool a tree."
    if tf.executing_eagerly() and mask.shape != [int(num_trees)]:
        raise IndexError(f"{message} Got {mask.shape} for {int(num_trees)} trees.")
    tf.debugging.assert_equal(tf.size(mask), num_trees, message)
    return tf.cast(tf.where(mask)[:, 0], tf.int32)


def _from_start(index: np.ndarray, num_trees: int) -> np.ndarray:
    wrong = index[(index < -num_trees) | (index >= num_trees)]
    if wrong.size:
        raise IndexError(f"There is no tree {wrong.flat[0]}: there are {num_trees}.")
    return np.where(index < 0, index + num_trees, index)
