"""What a block takes of its prologue."""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.batching.vectorize.known_numbers import KnownNumbers
from recursive_tf.python.batching.vectorize.networks import is_light
from recursive_tf.python.program.reachable import needed_ops
from recursive_tf.python.tf_compat import FuncGraph


class Imports:
    """Tensors of the prologue in the graph of a block.

    Attributes:
        invariants: Those that are inputs of the block.

    Args:
        graph: Of the block.
        numbers: Gets those that are known.
        with_ops: Whether light ops of the prologue become ops of the block.
    """

    def __init__(
        self, graph: FuncGraph, numbers: KnownNumbers, *, with_ops: bool
    ) -> None:
        self.invariants: list[tf.Tensor] = []
        self._graph = graph
        self._numbers = numbers
        self._with_ops = with_ops
        self._imported: dict[int, tf.Tensor] = {}
        self._is_complete = False

    def complete(self, rows: Sequence[tf.Tensor]) -> None:
        """Sets the inputs of the graph: rows, then invariants, also later ones."""
        self._graph.inputs = [*rows, *(self._imported[id(t)] for t in self.invariants)]
        self._is_complete = True

    def get(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns a tensor of the prologue in the block's graph."""
        if id(tensor) not in self._imported:
            value = static_value(tensor)
            if value is not None:
                self._numbers.add_value(value)
                self._imported[id(tensor)] = tf.constant(value, tensor.dtype)
            elif self._is_op_here(tensor):
                self._import_ops(tensor)
            else:
                self._import_input(tensor)
        return self._imported[id(tensor)]

    def _import_input(self, tensor: tf.Tensor) -> None:
        placeholder = tf_compat.placeholder_like(self._graph, tensor)
        self._imported[id(tensor)] = placeholder
        self.invariants.append(tensor)
        if self._is_complete:
            self._graph.inputs.append(placeholder)

    def _is_op_here(self, tensor: tf.Tensor) -> bool:
        return self._with_ops and is_light(tensor.op)

    def _import_ops(self, tensor: tf.Tensor) -> None:
        """Adds the light ops that a tensor follows from."""

        def is_given(needed: tf.Tensor) -> bool:
            is_there = id(needed) in self._imported or not self._is_op_here(needed)
            return is_there or static_value(needed) is not None

        for op in needed_ops([tensor], is_given):
            inputs = [self.get(needed) for needed in op.inputs]
            added = tf_compat.add_like(self._graph, op, inputs)
            self._imported.update(zip(map(id, op.outputs), added.outputs, strict=True))
