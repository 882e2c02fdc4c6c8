"""Builds again, in a new graph, what some tensors of a graph need."""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.program.effects import has_effect
from recursive_tf.python.program.graph_copy import GraphCopy, Outside, Rewrite
from recursive_tf.python.tf_compat import FuncGraph


class Rebuild(Outside):
    """A new graph that computes the same; subclasses say what changes on the way.

    Attributes:
        graph: The new graph.
        effects: What became of the effects that `run` got, in order.
    """

    def __init__(self, name: str) -> None:
        self.graph = FuncGraph(tf_compat.unique_name(name))
        self.effects: list[tf.Operation] = []
        self._copy = GraphCopy(self.graph, self.graph)
        self._effects_of_source: set[tf.Operation] = set()

    def run(
        self,
        inputs: Sequence[tf.Tensor],
        outputs: Sequence[tf.Tensor],
        effects: Sequence[tf.Operation] = (),
    ) -> FuncGraph:
        """Returns the graph; its inputs and outputs are what these are in it.

        It has `effects` too, e.g. assertions, which happen in their order.
        """
        self.extend(inputs, outputs, effects)
        self.finish()
        return self.graph

    def extend(
        self,
        inputs: Sequence[tf.Tensor],
        outputs: Sequence[tf.Tensor],
        effects: Sequence[tf.Operation] = (),
    ) -> None:
        """Does the same to what is there already; the outputs are then these."""
        tensors = [*inputs, *outputs, *(t for op in effects for t in op.inputs)]
        if tensors and self._copy.source is self.graph:
            rewrite = Rewrite(otherwise=self._add, keeps_order=lambda *_: False)
            source = tensors[0].graph
            self._copy = GraphCopy(source, self.graph, rewrite, outside=self)
        for tensor in inputs:
            self._copy.bind(tensor, self.add_input(tensor))
        self._effects_of_source |= set(effects)
        self._copy.copy_needed(outputs, effects)
        with self.graph.as_default():
            self.graph.outputs = [self.copy_of(tensor) for tensor in outputs]

    def finish(self) -> None:
        """Says that nothing more is added."""
        self._copy.finish()

    def _add(self, copy: GraphCopy, op: tf.Operation) -> Sequence[tf.Tensor]:
        del copy
        # Names stay, so that a profile shows those of the user's code.
        with tf_compat.scope_of(op):
            added = self.add(op)
        if op in self._effects_of_source:
            self._add_effect()
        return added

    def _add_effect(self) -> None:
        """Makes the op that was added last wait for the effect before it."""
        effect = self.graph.get_operations()[-1]
        tf_compat.add_control_inputs(effect, self.effects[-1:])
        self.effects.append(effect)

    def copy_of(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns what a tensor that some output needs is in the new graph."""
        return self._copy.resolve(tensor)

    # --- What subclasses may do in another way

    def is_leaf(self, tensor: tf.Tensor) -> bool:
        """Says whether a tensor is added without what it is computed from."""
        return not tensor.op.inputs

    def add_input(self, tensor: tf.Tensor) -> tf.Tensor:
        """Adds an input of the graph."""
        placeholder = tf_compat.placeholder_like(self.graph, tensor)
        self.graph.inputs.append(placeholder)
        return placeholder

    def add_leaf(self, tensor: tf.Tensor) -> tf.Tensor:
        """Adds a leaf when it is used."""
        assert tensor.op.type != "Placeholder", f"{tensor} is not an input."
        return self.add_like(tensor.op, []).outputs[0]

    def inputs_of(self, op: tf.Operation) -> list[tf.Tensor]:
        """Returns what an op takes in the new graph."""
        return [self.copy_of(tensor) for tensor in op.inputs]

    def add(self, op: tf.Operation) -> Sequence[tf.Tensor]:
        """Adds what takes the place of an op, and returns its outputs."""
        return list(self.add_like(op, self.inputs_of(op)).outputs)

    # ---

    def add_like(self, op: tf.Operation, inputs: Sequence[tf.Tensor]) -> tf.Operation:
        """Adds an op with the name of `op`, for inputs of other shapes."""
        name = op.name.rpartition("/")[-1]
        return tf_compat.add_like(self.graph, op, inputs, name)


def effects_in(graph: FuncGraph) -> list[tf.Operation]:
    """Returns the ops of a graph that are there also if nobody reads what they give."""
    return [op for op in graph.get_operations() if has_effect(op)]
