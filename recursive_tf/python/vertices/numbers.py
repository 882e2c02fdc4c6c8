"""Whether what is to number vertices does, when it runs."""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.ops import library

# What errors say between a number and the count.
NONE_OF_ITS = ", which is none of its "
_CHECKED = (tf.int32, tf.int64)


def checked_vertices(
    numbers: Sequence[tf.Tensor],
    count: tf.Tensor,
    says: tuple[str, str],
    *,
    lowest: int,
    splits: Sequence[tf.Tensor] = (),
) -> list[tf.Tensor]:
    """Returns numbers of vertices, int32, or fails when it runs.

    Args:
        numbers: Integers, each [num_rows] or [num_rows, k]; or of ragged rows.
        count: How many vertices there are, an int32 scalar.
        says: What the error says before the row and before the number.
        lowest: The least that a number may be.
        splits: Where ragged rows begin and end, [num_rows + 1], or nothing.
    """
    checked: list[tf.Tensor] = library.recursive_checked_vertices(
        numbers=[n if n.dtype in _CHECKED else tf.cast(n, tf.int64) for n in numbers],
        count=count,
        splits=list(splits),
        lowest=lowest,
        words=[*says, NONE_OF_ITS],
    )
    return checked
