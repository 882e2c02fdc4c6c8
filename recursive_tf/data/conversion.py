"""Makes tensors of what a forest is made of, and checks what their shapes say."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from recursive_tf.data.errors import ForestError

MAX_RANK = 1


def nodes(values: Any, name: str) -> tf.Tensor:
    """Returns node numbers, or numbers of nodes, as int32.

    Raises:
        ForestError: If they are no whole numbers.
    """
    if values is None:
        raise ForestError(
            f"A batch needs {name}: an int32[num_trees], e.g. how many nodes each of "
            "its trees has."
        )
    if tf.is_tensor(values) and values.dtype != tf.int32:
        values = tf.cast(values, tf.int32) if values.dtype.is_integer else values
    try:
        return tf.convert_to_tensor(values, tf.int32)
    except (TypeError, ValueError) as error:
        raise ForestError(f"{name} must be whole numbers: {error}") from None


def lists(values: Any) -> tf.RaggedTensor:
    """Returns lists of children, int32[num_nodes, (children)], from lists or ragged."""
    if not isinstance(values, tf.RaggedTensor):
        values = tf.ragged.constant(values, tf.int32, ragged_rank=1)
    if values.dtype != tf.int32:
        values = values.with_flat_values(nodes(values.flat_values, "children"))
    return values.with_row_splits_dtype(tf.int64)


def check_links(left: Any, right: Any, children: Any) -> None:
    """Raises a ForestError unless there are left and right children, or lists."""
    given = [left is not None, right is not None, children is not None]
    if given not in ([True, True, False], [False, False, True]):
        names = [
            name
            for name, is_given in zip(("left", "right", "children"), given, strict=True)
            if is_given
        ]
        raise ForestError(
            f"A forest is made of left and right, or of children. Got {names}."
        )
    if children is not None and children.ragged_rank != 1:
        raise ForestError(
            "children must be one list a node, int32[num_nodes, (children)]. Got "
            f"{children.shape} with {children.ragged_rank} ragged dimensions."
        )


def check_batch(roots: tf.Tensor, sizes: tf.Tensor) -> None:
    """Raises a ForestError unless there is a size for each root."""
    if roots.shape.rank is None or roots.shape.rank > MAX_RANK:
        raise ForestError(
            "roots must have the shape [] for a tree or [num_trees] for a batch. Got "
            f"{roots.shape}."
        )
    if not roots.shape.is_compatible_with(sizes.shape):
        raise ForestError(
            f"There must be a size for each root: got roots of shape {roots.shape} and "
            f"sizes of shape {sizes.shape}."
        )


def check_rows(arrays: Mapping[str, Any]) -> None:
    """Raises a ForestError unless all arrays can have a row for each node."""
    expected = arrays["tokens"].shape
    if expected.rank != 1:
        raise ForestError(f"tokens must have the shape [num_nodes]. Got {expected}.")
    for name, array in arrays.items():
        if name in ("left", "right") and array.shape.rank != 1:
            raise ForestError(
                f"{name} must have the shape [num_nodes]. Got {array.shape}."
            )
        if not array.shape.rank or not expected.is_compatible_with(array.shape[:1]):
            raise ForestError(
                f"There are {expected[0]} tokens, one a node, but {name} has the shape "
                f"{array.shape}. Its first dimension must be the number of nodes."
            )
