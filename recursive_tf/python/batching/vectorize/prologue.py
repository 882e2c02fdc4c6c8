"""What no activation changes: computed once a root call.

That is before all else, if it is total and smooth; otherwise late: see late_parts.py.
"""

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.flatten.flat_program import FlatProgram
from recursive_tf.python.batching.flatten.total import Lateness
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
        todo = [wanted]
        # A stack, not a recursion: chains of ops may be longer than Python's.
        while todo:
            missing = self._missing_for(todo[-1])
            if missing:
                todo += missing
            else:
                self._add(todo.pop())
        return self._copies[id(wanted)]

    def add(self, op: tf.Operation, inputs: list[tf.Tensor]) -> list[tf.Tensor]:
        """Adds an op like `op`, and returns its outputs."""
        new = tf_compat.create_op(self.graph, op, inputs)
        tf_compat.set_origin(new, op)
        return list(new.outputs)

    def _missing_for(self, tensor: tf.Tensor) -> list[tf.Tensor]:
        """Returns what has to be copied before `tensor`."""
        if id(tensor) in self._copies or id(tensor) in self._program.captures:
            return []
        inputs = self._program.inputs_of(tensor.op)
        return [t for t in inputs if id(t) not in self._copies]

    def _add(self, tensor: tf.Tensor) -> None:
        if id(tensor) in self._copies:
            return
        capture = self._program.captures.get(id(tensor))
        if capture is not None:
            self._copies[id(tensor)] = tf_compat.placeholder_like(self.graph, tensor)
            self.graph.inputs.append(self._copies[id(tensor)])
            self.captures.append(capture)
            return
        op = tensor.op
        used = self._program.inputs_of(op)[: len(op.inputs)]
        inputs = [self._copies[id(t)] for t in used]
        for old, new in zip(op.outputs, self.add(op, inputs), strict=True):
            self._copies[id(old)] = new
