"""Tables of states in TensorFlow, a row a node, that are updated in place."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

Tables = tuple[tf.Tensor, ...]


def empty(rows: tf.Tensor, widths: Sequence[int]) -> Tables:
    """Returns tables of anything, float32[rows, width] for each width."""
    return _made(rows, widths, init=False)


def zeros(rows: tf.Tensor, widths: Sequence[int]) -> Tables:
    """Returns tables of zeros, each of its own: equal `tf.zeros` would be merged."""
    return _made(rows, widths, init=True)


def write(tables: Tables, rows: tf.Tensor, values: Tables) -> Tables:
    """Returns the tables, as many as there are, with rows that are overwritten."""
    return tuple(
        tf.raw_ops.InplaceUpdate(x=table, i=rows, v=value)
        for table, value in zip(tables, values, strict=False)
    )


def add(tables: Tables, rows: tf.Tensor, values: Tables) -> Tables:
    """Returns the tables with values added to rows.

    Args:
        tables: float32[num_rows, width] each.
        rows: int32[n].
        values: As many as tables, of n * width numbers each, in any shape.
    """
    return tuple(
        tf.raw_ops.InplaceAdd(x=table, i=rows, v=tf.reshape(v, [-1, table.shape[1]]))
        for table, v in zip(tables, values, strict=True)
    )


def pairs(table: tf.Tensor, children: tf.Tensor) -> tf.Tensor:
    """Returns rows of both children side by side: float32[n / 2, 2 * width]."""
    return tf.reshape(tf.gather(table, children), [-1, 2 * table.shape[1]])


def _made(rows: tf.Tensor, widths: Sequence[int], init: bool) -> Tables:
    return tuple(
        tf.raw_ops.Empty(shape=[rows, width], dtype=tf.float32, init=init)
        for width in widths
    )
