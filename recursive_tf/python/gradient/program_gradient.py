"""The gradient of a whole program: a gradient procedure for each procedure."""

from collections.abc import Collection

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.gradient.gradient_graph import GradientGraph
from recursive_tf.python.gradient.region import Region, TrainingForm, callees_within
from recursive_tf.python.gradient.sinks import Sinks
from recursive_tf.python.program.closed_graph import PUSHES
from recursive_tf.python.program.effects import contains
from recursive_tf.python.program.trainable import is_trainable
from recursive_tf.python.program.unneeded import NOTHING, Unneeded
from recursive_tf.python.tf_compat import AtomicFunction, FuncGraph


class ProgramGradient:
    """Made from the attributes of a root op alone, so also after loading.

    Attributes:
        inference: The procedures as they are.
        training: The procedures in training form.
        gradients: The gradient procedures. Each takes a handle, a gradient for each
            floating-point output, and captures; it returns a gradient for each
            floating-point argument.
        captures: Which captures of the program each gradient procedure takes.
        argument_specs: The floating-point arguments of the entry procedure.
        sinks: Where the gradients of captures are gathered.

    Args:
        procedures: Of the root op.
        capture_indices: Which captures of the program each of them takes.
        unneeded: By what no gradient is needed.
        mapped: Whether the root op may make several invocations.
    """

    def __init__(
        self,
        procedures: list[AtomicFunction],
        capture_indices: list[list[int]],
        unneeded: Unneeded = NOTHING,
        *,
        mapped: bool = True,
    ) -> None:
        self.sinks = Sinks(unneeded.captures)
        self.inference = procedures
        self.training: list[AtomicFunction] = []
        self.gradients: list[AtomicFunction] = []
        self.captures: list[list[int]] = []
        self.argument_specs: list[tf.TensorSpec] = []
        graphs = [tf_compat.to_func_graph(p) for p in procedures]
        pushing = _pushing(graphs)
        callees = {callee for graph in graphs for callee in _callees(graph)}
        is_called = 0 in callees
        form = TrainingForm(
            lambda index: index in pushing, runs_once=not callees and not mapped
        )
        for graph, indices in zip(graphs, capture_indices, strict=True):
            region = form.region_of(graph, indices)
            arguments = _arguments(region, len(indices))
            left_out: Collection[int] = ()
            if not self.training:
                if not is_called:
                    left_out = _places(region, arguments, unneeded)
                self.argument_specs = [
                    tf.TensorSpec(a.shape, a.dtype) for a in arguments
                ]
            self._add(region, arguments, left_out)

    def _add(
        self, region: Region, arguments: list[tf.Tensor], left_out: Collection[int]
    ) -> None:
        """Adds the gradient of a procedure.

        Args:
            region: The procedure.
            arguments: By what it is differentiated.
            left_out: Which of these gradients nobody needs.
        """
        graph = GradientGraph(region, self.sinks)
        outputs = [
            (output, graph.add_input(output))
            for output in region.graph.outputs
            if is_trainable(output.dtype)
        ]
        found = graph.differentiate(outputs)
        with graph.as_default():
            graph.outputs = [
                found[id(a)] if id(a) in found else graph.capture(tf.zeros_like(a))
                for a in arguments
            ]
            unneeded = [graph.outputs[i] for i in left_out]
            for i in left_out:
                graph.outputs[i] = tf.zeros(arguments[i].shape, arguments[i].dtype)
        final = graph.finish(unneeded)
        assert not final.captures, "a gradient procedure used an outer tensor"
        self.captures.append(sorted(graph.capture_arguments))
        self.gradients.append(tf_compat.make_function(final))
        self.training.append(tf_compat.make_function(region.graph))


def _arguments(region: Region, num_captures: int) -> list[tf.Tensor]:
    """Returns the floating-point arguments of a body: neither handle nor captures."""
    end = len(region.graph.inputs) - num_captures
    return [t for t in region.graph.inputs[1:end] if is_trainable(t.dtype)]


def _places(
    region: Region, arguments: list[tf.Tensor], unneeded: Unneeded
) -> list[int]:
    """Returns which of `arguments` are unneeded, of those whose shape is known."""
    places = {id(tensor): i for i, tensor in enumerate(arguments)}
    # The first input is the handle.
    skipped = [region.graph.inputs[1 + i] for i in unneeded.arguments]
    return [places[id(t)] for t in skipped if t.shape.is_fully_defined()]


def _callees(graph: FuncGraph) -> set[int]:
    """Returns the procedures that a procedure calls."""
    return {c for op in graph.get_operations() for c in callees_within(op)}


def _pushing(procedures: list[FuncGraph]) -> set[int]:
    """Returns the procedures that push, or call one that does."""
    callees = {}
    pushing = set()
    for index, graph in enumerate(procedures):
        callees[index] = _callees(graph)
        if any(contains(op, PUSHES) for op in graph.get_operations()):
            pushing.add(index)
    changed = True
    while changed:
        new = {i for i, called in callees.items() if called & pushing} - pushing
        pushing |= new
        changed = bool(new)
    return pushing
