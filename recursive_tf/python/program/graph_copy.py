"""Copies a function graph, with its branches, while some ops become others.

Closing a program and preparing it for gradients both rewrite graphs that may hold
conditionals. A copy does it without a special case: an op of a branch that needs
something of an enclosing graph is created with that tensor as an input, and the
branch captures it as it would have while it was traced.
"""

import dataclasses
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.program.reachable import needed_ops
from recursive_tf.python.tf_compat import FuncGraph

CONDITIONALS = frozenset(("If", "StatelessIf", "Case", "StatelessCase"))
LOOPS = frozenset(("While", "StatelessWhile"))
FUNCTION_CALLS = frozenset(("PartitionedCall", "StatefulPartitionedCall"))

# Returns the tensors that take the place of an op's outputs, or None to copy the op as
# it is. A substitution that adds an op which others should wait for registers it.
Substitution = Callable[["GraphCopy", tf.Operation], Sequence[tf.Tensor] | None]


@dataclasses.dataclass(frozen=True)
class Rewrite:
    """What changes where a graph is copied, in its branches too; by default nothing.

    Attributes:
        substitutions: What takes the place of ops, by their type.
        otherwise: The same for ops of all other types.
        keeps_order: Says whether an op that had to wait for another still has to; takes
            the two in their order.
        orders: Called with each new graph after its ops are there.
    """

    substitutions: Mapping[str, Substitution] = dataclasses.field(default_factory=dict)
    otherwise: Substitution = lambda _copy, _op: None
    keeps_order: Callable[[tf.Operation, tf.Operation], bool] = lambda *_: True
    orders: Callable[[FuncGraph], None] = lambda _graph: None

    def of(self, op: tf.Operation) -> Substitution:
        """Returns what takes the place of an op."""
        return self.substitutions.get(op.type, self.otherwise)


class Outside:
    """What the outermost graph of a copy takes from elsewhere; by default nothing."""

    def is_leaf(self, tensor: tf.Tensor) -> bool:
        """Says whether a tensor is added without what it is computed from."""
        del tensor
        return False

    def add_leaf(self, tensor: tf.Tensor) -> tf.Tensor:
        """Adds what stands for a tensor of the source that no copied op computes.

        Raises:
            KeyError: If nothing does.
        """
        raise KeyError(f"{tensor} has no copy.")

    def external_of(self, tensor: tf.Tensor) -> tf.Tensor | None:
        """Returns what a tensor of the source is outside of it, if it is a capture."""
        del tensor
        return None

    def inside(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns the capture for a tensor of the outside, or the tensor itself."""
        return tensor


@dataclasses.dataclass
class Turn:
    """Which turn of a counted loop a part of it is in.

    Attributes:
        number: uint64 `[]`.
        key: What random numbers of the turn follow from, once something drew.
    """

    number: tf.Tensor
    key: tf.Tensor | None = None


class GraphCopy:
    """A copy of `source` in `target`.

    Attributes:
        rewrite: What changes on the way.
        outside: What the outermost graph takes from elsewhere.
        parent: The copy of the graph around `source`, or None.
        repeated: One run of the outermost graph may run this part several times.
        turn: Of a part of a loop that is counted.
        values: The copies of tensors, by their ids.
    """

    def __init__(
        self,
        source: FuncGraph,
        target: FuncGraph,
        rewrite: Rewrite = Rewrite(),
        *,
        outside: Outside | None = None,
        parent: "GraphCopy | None" = None,
        repeated: bool = False,
    ) -> None:
        self.source = source
        self.target = target
        self.rewrite = rewrite
        self.parent = parent
        self.outside = Outside() if outside is None else outside
        self.repeated: bool = repeated or (parent is not None and parent.repeated)
        self.turn: Turn | None = None
        self.values: dict[int, tf.Tensor] = {}
        # An input of a branch stands for a tensor of the graph around it.
        self.links: dict[int, tf.Tensor] = {}
        # By the id of a tensor around a loop: the variable that keeps it in the target.
        self.kept: dict[int, tf.Tensor] = {}
        # By the name of the source op.
        self._ops: dict[str, tf.Operation] = {}

    def bind(self, source: tf.Tensor, target: tf.Tensor) -> None:
        """Makes `target` the copy of `source`."""
        self.values[id(source)] = target

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
        found = self.outside.add_leaf(tensor)
        self.bind(tensor, found)
        return found

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
        tensor = self.outside.inside(tensor)
        try:
            return self.resolve(tensor)
        except KeyError:
            return None if self.parent is None else self.parent.locate(tensor)

    def within(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns what a tensor of a graph around the target is in the target.

        That is the tensor itself if the target does not take it.
        """
        if tensor.graph is self.target or self.parent is None:
            return tensor
        tensor = self.parent.within(tensor)
        for external, internal in self.target.captures:
            if external is tensor:
                return internal
        return self.kept.get(id(tensor), tensor)

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

    def copy_ops(self, only: Container[tf.Operation] | None = None) -> None:
        """Copies all ops, or those in `only`, and then what they wait for."""
        ops = self.source.get_operations()
        if only is not None:
            ops = [op for op in ops if op in only]
        with self.target.as_default():
            for op in ops:
                self._copy_op(op)
        for op in ops:
            self._copy_control_inputs(op)

    def copy_needed(
        self, wanted: Sequence[tf.Tensor], effects: Sequence[tf.Operation] = ()
    ) -> None:
        """Copies the ops that compute some tensors, and effects with what they need."""

        def is_given(tensor: tf.Tensor) -> bool:
            return id(tensor) in self.values or self.outside.is_leaf(tensor)

        self.copy_ops(only=set(needed_ops(wanted, is_given, effects)))

    def run(self, only: Container[tf.Operation] | None = None) -> None:
        """Copies all ops, or those in `only`, and the outputs."""
        self.copy_ops(only)
        self.rewrite.orders(self.target)
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
        before = self._copies_of(
            b for b in op.control_inputs if self.rewrite.keeps_order(b, op)
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
        rewrite: Rewrite | None = None,
        *,
        repeated: bool = False,
    ) -> "GraphCopy":
        """Returns a copy, not run yet, of a graph within this one.

        It changes the same, if `rewrite` is None.
        """
        rewrite = self.rewrite if rewrite is None else rewrite
        return GraphCopy(source, target, rewrite, parent=self, repeated=repeated)

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
            if not tf_compat.keep_known_gradient(new, op):
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
        if op.type == "Placeholder":
            return  # A capture: resolved when something uses it.
        outputs = self.rewrite.of(op)(self, op)
        if outputs is None:
            outputs = self.copy_as_is(op).outputs
        for old, new_output in zip(op.outputs, outputs, strict=False):
            self.bind(old, new_output)

    def _copy_control_inputs(self, op: tf.Operation) -> None:
        new = self._ops.get(op.name)
        if new is None or new.graph is not self.target:
            return
        before = [b for b in op.control_inputs if self.rewrite.keeps_order(b, op)]
        controls = [c for c in self._copies_of(before) if c is not new]
        if controls:
            tf_compat.add_control_inputs(new, controls)


def _redirect(gradient: Callable[..., Any], copy: GraphCopy) -> Callable[..., Any]:
    """Returns a custom gradient for the copy of the op that has it.

    The function that the user wrote holds tensors of the graph that it was traced in.
    So it is traced, and what it captures is replaced by copies. They are in the branch
    if it takes them: else TensorFlow differentiates no conditional in a loop.
    """

    def redirected(op: tf.Operation | None, *gradients: Any) -> Any:
        target = tf_compat.default_graph()
        traced = FuncGraph(tf_compat.unique_name("custom_gradient"))
        with traced.as_default():
            results = gradient(op, *gradients)
        # A gradient that was loaded is a call; that itself has no gradient.
        rewrite = Rewrite(dict.fromkeys(FUNCTION_CALLS, inline_call))
        inlined = GraphCopy(traced, target, rewrite)
        for outer, inner in traced.captures:
            located = copy.locate(outer)
            captured = outer if located is None else copy.within(located)
            inlined.bind(inner, target.capture(captured))
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


def behind_identities(tensor: tf.Tensor) -> tf.Tensor:
    """Returns what a tensor is a copy of, by any number of `tf.identity`."""
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor


def branch_function(branch: FuncGraph) -> str | None:
    """Returns the name of the function that a branch of a conditional was traced of."""
    copies = (op for op in branch.get_operations() if tf_compat.is_copy(op))
    first = next(copies, None)
    return None if first is None else tf_compat.branch_function_name(first)
