"""What no activation changes: computed once a root call.

That is before all else, if it is total and smooth; otherwise late: see late_parts.py.
"""

from collections.abc import Iterable

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.flatten.flat_program import FlatProgram
from recursive_tf.python.batching.flatten.total import Lateness
from recursive_tf.python.program.reachable import reachable
from recursive_tf.python.tf_compat import FuncGraph


class Prologue:
    """A graph that takes captures of the program, and that blocks take tensors of.

    Attributes:
        graph: The graph; its inputs are captures.
        captures: Which captures of the program they are.
    """

    def __init__(self, program: FlatProgram) -> None:
        self._program = program
        self._copies: dict[int, tf.Tensor] = {}
        self.graph = FuncGraph(tf_compat.unique_name("prologue"))
        self.captures: list[int] = []
        self._lateness = Lateness(
            lambda op: op.inputs, lambda tensor: tensor.op.type == "Placeholder"
        )

    def is_late(self, tensor: tf.Tensor) -> bool:
        """Says whether a tensor of the graph waits for the first that takes it."""
        return self._lateness.of(tensor)

    def copy(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns what `tensor`, of a closed procedure, is in the prologue."""
        wanted = self._program.resolve(tensor)
        needed = reachable(
            self._makers([wanted]), lambda op: self._makers(self._used_by(op))
        )
        for op in sorted(needed, key=self._program.order_of):
            inputs = [self._copy_of(t) for t in self._used_by(op)]
            for old, new in zip(op.outputs, self.add(op, inputs), strict=True):
                self._copies[id(old)] = new
        return self._copy_of(wanted)

    def add(self, op: tf.Operation, inputs: list[tf.Tensor]) -> list[tf.Tensor]:
        """Adds an op like `op`, and returns its outputs."""
        new = tf_compat.create_op(self.graph, op, inputs)
        tf_compat.set_origin(new, op)
        return list(new.outputs)

    def _used_by(self, op: tf.Operation) -> list[tf.Tensor]:
        return self._program.inputs_of(op)[: len(op.inputs)]

    def _makers(self, tensors: Iterable[tf.Tensor]) -> list[tf.Operation]:
        """Returns the ops that are still to be added for tensors."""
        captures = self._program.captures
        missing = (t for t in tensors if id(t) not in self._copies)
        return [t.op for t in missing if id(t) not in captures]

    def _copy_of(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns what is there, or a new input for a capture."""
        if id(tensor) not in self._copies:
            self._copies[id(tensor)] = tf_compat.placeholder_like(self.graph, tensor)
            self.graph.inputs.append(self._copies[id(tensor)])
            self.captures.append(self._program.captures[id(tensor)])
        return self._copies[id(tensor)]
