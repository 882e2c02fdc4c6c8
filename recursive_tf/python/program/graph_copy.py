"""Copies a function graph, with its branches, while some ops become others.

Closing a program and preparing it for gradients both rewrite graphs that may hold
conditionals. A copy does it without a special case: an op of a branch that needs
something of an enclosing graph is created with that tensor as an input, and the
branch captures it as it would have while it was traced.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.tf_compat import FuncGraph

CONDITIONALS = frozenset(("If", "StatelessIf", "Case", "StatelessCase"))
LOOPS = frozenset(("While", "StatelessWhile"))
FUNCTION_CALLS = frozenset(("PartitionedCall", "StatefulPartitionedCall"))

# Returns the tensors that take the place of an op's outputs, or None to copy the op as
# it is. A substitution that adds an op which others should wait for registers it.
Substitution = Callable[["GraphCopy", tf.Operation], Sequence[tf.Tensor] | None]


class GraphCopy:
    """A copy of `source` in `target`.

    Attributes:
        parent: The copy of the graph around `source`, or None.
        repeated: One run of the outermost graph may run this part several times.
        turn: Of a part of a loop that is counted: the number, uint64, of the turn.
        key_of_turn: The key of that for random numbers, once something drew.
    """

    def __init__(
        self,
        source: FuncGraph,
        target: FuncGraph,
        substitutions: Mapping[str, Substitution],
        parent: "GraphCopy | None" = None,
    ) -> None:
        self.source = source
        self.target = target
        self.substitutions = substitutions
        self.parent = parent
        self.repeated: bool = parent is not None and parent.repeated
        self.turn: tf.Tensor | None = None
        self.key_of_turn: tf.Tensor | None = None
        self.values: dict[int, tf.Tensor] = {}
        # An input of a branch stands for a tensor of the graph around it.
        self.links: dict[int, tf.Tensor] = {}
        # How the outermost graph's captures are copied, and what they stand for.
        self.fallback: Callable[[tf.Tensor], tf.Tensor] | None = None
        self.external_of: Callable[[tf.Tensor], tf.Tensor | None] = lambda _: None
        # What an outer tensor is in the outermost graph, by its id.
        self.inside: dict[int, tf.Tensor] = {}
        self.skips: Callable[[tf.Operation], bool] = lambda _: False
        # The substitution for ops of all other types.
        self.otherwise: Substitution = lambda _copy, _op: None
        self.keeps_order: Callable[[tf.Operation, tf.Operation], bool] = (
            lambda _before, _after: True
        )
        # Called with the target after its ops are copied.
        self.orders: Callable[[FuncGraph], None] = lambda _graph: None
        # By the name of the source op.
        self._ops: dict[str, tf.Operation] = {}
        # Keeps what `values` names by id.
        self._alive: list[tf.Tensor] = []

    def bind(self, source: tf.Tensor, target: tf.Tensor) -> None:
        """Makes `target` the copy of `source`."""
        self.values[id(source)] = target
        self._alive.append(source)

    def bind_input(self, source: tf.Tensor) -> None:
        """Makes a new input of the target the copy of `source`."""
        argument = tf_compat.placeholder_like(self.target, source)
        self.target.inputs.append(argument)
        self.bind(source, argument)

    def resolve(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns the copy of a tensor of `source` or of a graph around it."""
        found = self.values.get(id(tensor))
        if found is not None:
            return found
        link = self.links.get(id(tensor))
        if link is not None:
            assert self.parent is not None
            return self.parent.resolve(link)
        if self.fallback is not None:
            return self.fallback(tensor)
        raise KeyError(f"{tensor} has no copy.")

    def find(self, tensor: tf.Tensor) -> tf.Tensor | None:
        """Returns the copy of a tensor of `source`, or of what that is a copy of."""
        if id(tensor) in self.values:
            return self.values[id(tensor)]
        earlier = getattr(self.source, "copied_by", None)
        found = None if earlier is None else earlier.find(tensor)
        return None if found is None else self.values.get(id(found))

    def locate(self, tensor: tf.Tensor) -> tf.Tensor | None:
        """Returns the copy of what a closure of the traced program may hold.

        That is a tensor of `source`, of a graph around it, or an outer one.
        """
        tensor = self.inside.get(id(tensor), tensor)
        try:
            return self.resolve(tensor)
        except KeyError:
            return None if self.parent is None else self.parent.locate(tensor)

    def origin(self, tensor: tf.Tensor) -> tuple["GraphCopy", tf.Tensor]:
        """Follows inputs of branches outward to the graph that has the tensor."""
        link = self.links.get(id(tensor))
        if link is None:
            return self, tensor
        assert self.parent is not None
        return self.parent.origin(link)

    def enclosing(self, graph: tf.Graph) -> "GraphCopy | None":
        """Returns the copy of `graph` if that is `source` or around it."""
        if self.source is graph:
            return self
        return None if self.parent is None else self.parent.enclosing(graph)

    def copy_ops(self) -> None:
        """Copies all ops, and then what they wait for."""
        ops = [op for op in self.source.get_operations() if not self.skips(op)]
        with self.target.as_default():
            for op in ops:
                self._copy_op(op)
        for op in ops:
            self._copy_control_inputs(op)

    def run(self) -> None:
        """Copies all ops and the outputs."""
        self.copy_ops()
        self.orders(self.target)
        self.target.copied_by = self
        self.target.control_outputs.extend(self._copies_of(self.source.control_outputs))
        with self.target.as_default():
            self.target.outputs = [
                self.target.capture(self.resolve(output))
                for output in self.source.outputs
            ]

    def inline(
        self,
        op: tf.Operation,
        source: FuncGraph,
        inputs: Sequence[tf.Tensor] | None = None,
    ) -> list[tf.Tensor]:
        """Copies the graph of the function that `op` calls in place of `op`.

        What had to run before or after the call runs before or after its effects. The
        function takes `inputs`, or else all that `op` takes.
        """
        inner = self.part(source, self.target)
        inner.link(op.inputs if inputs is None else inputs)
        inner.copy_ops()
        self.values.update(inner.values)
        self._alive.extend(inner._alive)
        before = self._copies_of(
            b for b in op.control_inputs if self.keeps_order(b, op)
        )
        for copied in inner._ops.values():
            if before and copied.graph is self.target and tf_compat.is_stateful(copied):
                tf_compat.add_control_inputs(copied, before)
        with tf.control_dependencies(inner._copies_of(source.control_outputs)):
            self.register(op, tf.no_op())
        return [inner.resolve(output) for output in source.outputs]

    def copied(self, name: str) -> tf.Operation | None:
        """Returns what was copied of the op of that name."""
        return self._ops.get(name)

    def _copies_of(self, ops: Iterable[tf.Operation]) -> list[tf.Operation]:
        """Returns what was copied of `ops`."""
        return [self._ops[op.name] for op in ops if op.name in self._ops]

    def part(
        self,
        source: FuncGraph,
        target: FuncGraph,
        substitutions: Mapping[str, Substitution] | None = None,
    ) -> "GraphCopy":
        """Returns a copy, not run yet, of a graph within this one.

        By the substitutions of this one, if `substitutions` is None.
        """
        substitutions = self.substitutions if substitutions is None else substitutions
        copy = GraphCopy(source, target, substitutions, parent=self)
        copy.keeps_order = self.keeps_order
        copy.orders = self.orders
        copy.otherwise = self.otherwise
        return copy

    def branch(
        self, source: FuncGraph, inputs: Sequence[tf.Tensor], name: str
    ) -> "GraphCopy":
        """Returns a copy, not run yet, of a branch whose inputs are `inputs` here."""
        with self.target.as_default():
            target = FuncGraph(tf_compat.unique_name(name))
        copy = self.part(source, target)
        copy.link(inputs)
        return copy

    def link(self, arguments: Sequence[tf.Tensor]) -> None:
        """Makes the inputs of `source` stand for tensors of the graph around it."""
        for placeholder, argument in zip(self.source.inputs, arguments, strict=True):
            self.links[id(placeholder)] = argument

    def copy_as_is(self, op: tf.Operation) -> tf.Operation:
        """Copies one op."""
        inputs = [self.resolve(tensor) for tensor in op.inputs]
        new = tf_compat.create_op(self.target, op, inputs)
        gradient = tf_compat.custom_gradient_of(op)
        if gradient is not None:
            if self._is_within_source(op.graph):
                tf_compat.own_custom_gradient(op)
            tf_compat.set_custom_gradient(new, _redirect(gradient, self))
        self.register(op, new)
        return new

    def _is_within_source(self, graph: tf.Graph | None) -> bool:
        """Says whether `graph` is the outermost source, or was traced within it."""
        outermost = self
        while outermost.parent is not None:
            outermost = outermost.parent
        while graph is not None and graph is not outermost.source:
            graph = getattr(graph, "outer_graph", None)
        return graph is not None

    def register(self, source: tf.Operation, target: tf.Operation) -> None:
        """Makes `target` the copy of `source`: what waits for that waits for it."""
        self._ops[source.name] = target
        tf_compat.set_origin(target, source)

    def _is_input(self, op: tf.Operation) -> bool:
        return bool(op.outputs) and all(
            id(output) in self.values or id(output) in self.links
            for output in op.outputs
        )

    def _copy_op(self, op: tf.Operation) -> None:
        if self._is_input(op):
            return
        if op.type == "Placeholder" and self.fallback is not None:
            return  # A capture: resolved when something uses it.
        outputs = self.substitutions.get(op.type, self.otherwise)(self, op)
        if outputs is None:
            outputs = self.copy_as_is(op).outputs
        for old, new_output in zip(op.outputs, outputs, strict=False):
            self.bind(old, new_output)

    def _copy_control_inputs(self, op: tf.Operation) -> None:
        new = self._ops.get(op.name)
        if new is None or new.graph is not self.target:
            return
        before = [b for b in op.control_inputs if self.keeps_order(b, op)]
        controls = [c for c in self._copies_of(before) if c is not new]
        if controls:
            tf_compat.add_control_inputs(new, controls)


def _redirect(gradient: Callable[..., Any], copy: GraphCopy) -> Callable[..., Any]:
    """Returns a custom gradient for the copy of the op that has it.

    The function that the user wrote holds tensors of the graph that it was traced in.
    So it is traced, and what it captures is replaced by copies.
    """

    def redirected(op: tf.Operation | None, *gradients: Any) -> Any:
        target = tf_compat.default_graph()
        traced = FuncGraph(tf_compat.unique_name("custom_gradient"))
        with traced.as_default():
            results = gradient(op, *gradients)
        # A gradient that was loaded is a call; that itself has no gradient.
        substitutions = dict.fromkeys(FUNCTION_CALLS, inline_call)
        inlined = GraphCopy(traced, target, substitutions)
        for outer, inner in traced.captures:
            located = copy.locate(outer)
            inlined.bind(inner, target.capture(outer if located is None else located))
        inlined.copy_ops()

        def placed(tensor: tf.Tensor) -> tf.Tensor:
            return inlined.resolve(tensor) if tensor.graph is traced else tensor

        return tf_compat.map_gradients(placed, results)

    return redirected


def inline_call(copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
    """Copies what the function does that `op` calls, in place of `op`."""
    (graph,) = branch_graphs(op)
    return copy.inline(op, graph)


def branch_graphs(op: tf.Operation) -> list[FuncGraph]:
    """Returns the graphs of the functions that a functional op names."""
    return [
        tf_compat.to_func_graph(tf_compat.find_function(op.graph, name))
        for name in tf_compat.function_names(op)
    ]


def match_inputs(graphs: Sequence[FuncGraph]) -> list[tf.Tensor]:
    """Gives graphs that only capture the same inputs in the same order.

    Returns:
        The captured tensors, which are the inputs of an op with these branches.
    """
    union: dict[int, tf.Tensor] = {}
    for graph in graphs:
        for external, _ in graph.captures:
            union.setdefault(id(external), external)
    externals = list(union.values())
    for graph in graphs:
        internals = {id(external): internal for external, internal in graph.captures}
        graph.inputs = [
            internals[id(external)]
            if id(external) in internals
            else tf_compat.placeholder_like(graph, external)
            for external in externals
        ]
        tf_compat.set_captures(graph, externals)
    return externals
