"""What invocations pushed, where they run as plain Python."""

from typing import Any

import tensorflow as tf


class PushedRows:
    """Tables of rows, by name; the same as `SubGraph.push` makes of them."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[int, tf.Tensor]] = {}
        self._sizes: dict[str, int] = {}

    def add(self, name: str, value: tf.Tensor, index: int, size: int) -> None:
        """Puts a value into row `index` of table `name`, which has `size` rows.

        Raises:
            tf.errors.InvalidArgumentError: If the row is there.
            tf.errors.OutOfRangeError: If there is no such row.
        """
        rows = self._rows.setdefault(name, {})
        self._sizes[name] = size
        if not 0 <= index < size:
            message = f"Push '{name}' has no row {index}: it has {size}."
            raise tf.errors.OutOfRangeError(None, None, message)
        if index in rows:
            message = f"Push '{name}' to row {index}, which was pushed before."
            raise tf.errors.InvalidArgumentError(None, None, message)
        rows[index] = value

    def tables(self) -> dict[str, Any]:
        """Returns the tables, with zeros where nothing was pushed."""
        return {name: self._table(name) for name in self._rows}

    def _table(self, name: str) -> tf.Tensor:
        rows = self._rows[name]
        values = tf.stack(list(rows.values()))
        shape = [self._sizes[name], *values.shape[1:]]
        return tf.scatter_nd([[index] for index in rows], values, shape)
