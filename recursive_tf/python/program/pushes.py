"""What a program pushes: rows of tables, whose sizes are known before it runs."""

import dataclasses
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python import tf_compat
from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.program.graph_copy import GraphCopy
from recursive_tf.python.program.hoist import hoist
from recursive_tf.python.program.lazy_pushes import LazyPush
from recursive_tf.python.tracing.specs import format_spec, spec_of


@dataclasses.dataclass
class PushedTable:
    """A table that a program pushes to: its row, and what each push says of its size.

    A size is a tensor of a traced graph, with the copy of that graph.
    """

    name: str
    row: tf.TensorSpec
    sizes: list[tuple[GraphCopy, tf.Tensor]]

    def size_in(self, place: Callable[[tf.Tensor], tf.Tensor]) -> tf.Tensor:
        """Returns the number of rows, computed in the default graph.

        Args:
            place: Returns what an outer tensor is there.
        """
        what = f"size= of push '{self.name}'"
        first, *others = [hoist(copy, size, place, what) for copy, size in self.sizes]
        message = f"{what} is not the same at all pushes to that table"
        checks = [tf.debugging.assert_equal(first, o, message) for o in others]
        with tf.control_dependencies(checks):
            return tf.identity(first)


class PushedTables:
    """The tables of one program, which its pushes make known.

    Attributes:
        by_name: In the order in which that happens.
    """

    def __init__(self) -> None:
        self.by_name: dict[str, PushedTable] = {}

    def close_push(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
        """Adds what takes the place of a traced push."""
        value = op.inputs[2]
        self._push(copy, op, op.get_attr("table").decode(), copy.resolve(value))
        return []

    def close_lazy_push(
        self, copy: GraphCopy, op: tf.Operation, lazy: LazyPush
    ) -> list[tf.Tensor]:
        """Adds pushes of what the value is computed of after the call."""
        for name, tensor in lazy.tables.items():
            self._push(copy, op, name, copy.resolve(tensor))
        self._push(copy, op, lazy.pushed, tf.constant(True))
        return []

    def _push(
        self, copy: GraphCopy, op: tf.Operation, name: str, value: tf.Tensor
    ) -> None:
        handle, index, _, size = op.inputs
        self._add(name, op, spec_of(value), (copy, size))
        push = library.recursive_push(
            handle=copy.resolve(handle),
            index=copy.resolve(index),
            value=value,
            slot=list(self.by_name).index(name),
        )
        copy.register(op, push)

    def _add(
        self,
        name: str,
        op: tf.Operation,
        row: tf.TensorSpec,
        size: tuple[GraphCopy, tf.Tensor],
    ) -> None:
        table = self.by_name.setdefault(name, PushedTable(name, row, []))
        if table.row.dtype != row.dtype:
            raise SubGraphError(
                f"push '{name}' gets {format_spec(row)} at {tf_compat.op_traceback(op)}"
                f" and {format_spec(table.row)} elsewhere. All pushes of a program "
                "that have one name share a table: rename one of them, or cast it."
            )
        _check_size(table, size[1])
        table.sizes.append(size)
        shape = table.row.shape.most_specific_compatible_shape(row.shape)
        table.row = tf.TensorSpec(shape, row.dtype)


def _check_size(table: PushedTable, size: tf.Tensor) -> None:
    """Checks what is known of sizes now; the rest when the program runs."""
    other = tf.get_static_value(size)
    for _, earlier in table.sizes:
        one = tf.get_static_value(earlier)
        if one is not None and other is not None and not np.array_equal(one, other):
            raise SubGraphError(
                f"push '{table.name}' has size={one} in one place and size={other} in "
                "another. It is one table: give all of its pushes one size."
            )
