"""A table of a push that waited: computed of the tables that were pushed instead."""

import dataclasses
from collections.abc import Callable

import tensorflow as tf

from recursive_tf.python.program import LazyPush


@dataclasses.dataclass(frozen=True)
class LazyTable:
    """Computes the table that a user asked for.

    Attributes:
        push: What waited.
        compute: Returns rows of the table, of the same rows of each of `push.tables`.
    """

    push: LazyPush
    compute: Callable[[list[tf.Tensor]], tf.Tensor]

    def complete(self, pushed: dict[str, tf.Tensor]) -> None:
        """Puts the table in place of those that it is computed of.

        Rows that nobody pushed are zero, and nothing is computed for them.
        """
        is_pushed = pushed.pop(self.push.pushed)
        tables = [pushed.pop(name) for name in self.push.tables]
        # Mostly there is nothing to leave out, and nothing to copy.
        are_all = tf.reduce_all(is_pushed)
        rows = tf.where(is_pushed)
        taken = tf.cond(
            are_all,
            lambda: tables,
            lambda: [tf.gather(table, rows[:, 0]) for table in tables],
        )
        values = self.compute(taken)
        size = tf.shape(is_pushed, tf.int64)
        shape = tf.concat([size, values.shape[1:]], axis=0)
        table = tf.cond(
            are_all, lambda: values, lambda: tf.scatter_nd(rows, values, shape)
        )
        pushed[self.push.table] = tf.ensure_shape(
            table, is_pushed.shape.concatenate(values.shape[1:])
        )
