"""The items of lists while a block is vectorized."""

import functools
from collections.abc import Callable, Sequence

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python.batching.graphs.wide_sums import sum_by_segment, widened


class ItemAxis:
    """An axis along which stand the items of all activations, one after the other.

    Whose an item is must not be kept for a gradient: it is another row when launches
    are taken together. It is computed from `lengths`, which split.py sees.

    Attributes:
        num_items: How many items all activations have. It stands for any number.
    """

    def __init__(
        self, num_rows: int, num_items: int, lengths: Callable[[], tf.Tensor]
    ) -> None:
        self._num_rows = num_rows
        self.num_items = num_items
        self._find_lengths = lengths

    @functools.cached_property
    def lengths(self) -> tf.Tensor:
        """How many items each activation has: int32 `[N]`."""
        return self._find_lengths()

    @property
    def owners(self) -> tf.Tensor:
        """The number of the activation that each item belongs to."""
        return self._items[0]

    @property
    def positions(self) -> tf.Tensor:
        """The number of each item within its list."""
        return self._items[1]

    @functools.cached_property
    def _items(self) -> tuple[tf.Tensor, tf.Tensor]:
        items = library.recursive_items(lengths=self.lengths)
        for numbers in items:
            numbers.set_shape([self.num_items])
        return items.owners, items.positions

    def of_owners(self, rows: tf.Tensor) -> tf.Tensor:
        """Returns for each item the row of its activation."""
        return tf.gather(rows, self.owners)

    def of_all(self, value: tf.Tensor, shape: Sequence[int]) -> tf.Tensor:
        """Returns for each item the same, which is broadcast to a shape.

        Where nothing else has items, nothing else says how many there are.
        """
        items = tf.broadcast_to(value, tf.stack([tf.reduce_sum(self.lengths), *shape]))
        items.set_shape([self.num_items, *shape])
        return items

    def sum(self, items: tf.Tensor) -> tf.Tensor:
        """Returns the sum of the items of each activation."""
        return sum_by_segment(items, self.owners, self._num_rows)

    def mean(self, items: tf.Tensor) -> tf.Tensor:
        """Returns the mean of the items of each activation; of none that is NaN."""
        total = self.sum(widened(items))
        ones = [1] * (total.shape.rank - 1)
        counts = tf.reshape(tf.cast(self.lengths, total.dtype), [self._num_rows, *ones])
        return tf.cast(total / counts, items.dtype)

    def max(self, items: tf.Tensor) -> tf.Tensor:
        """Returns the largest item of each activation; the least that there is if none.

        As `tf.reduce_max` does, of floats.
        """
        found = tf.math.unsorted_segment_max(items, self.owners, self._num_rows)
        return self._where_any(found, float("-inf"))

    def min(self, items: tf.Tensor) -> tf.Tensor:
        """Returns the least item of each activation, the same way."""
        found = tf.math.unsorted_segment_min(items, self.owners, self._num_rows)
        return self._where_any(found, float("inf"))

    def prod(self, items: tf.Tensor) -> tf.Tensor:
        """Returns the product of the items of each activation."""
        found = tf.math.unsorted_segment_prod(
            widened(items), self.owners, self._num_rows
        )
        return tf.cast(found, items.dtype)

    def _where_any(self, rows: tf.Tensor, of_nothing: float) -> tf.Tensor:
        # Of integers TensorFlow gives the last there is, as here.
        if not rows.dtype.is_floating:
            return rows
        ones = [1] * (rows.shape.rank - 1)
        is_any = tf.reshape(self.lengths > 0, [self._num_rows, *ones])
        return tf.where(is_any, rows, tf.constant(of_nothing, rows.dtype))
