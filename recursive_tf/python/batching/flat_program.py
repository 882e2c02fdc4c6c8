"""A closed program without nesting: what may wait is a procedure of its own.

A procedure waits where it calls a SubGraph and where it takes a branch: which one may
differ from activation to activation. So the branches of a conditional are procedures,
called where the conditional stands, with what they use of the procedure around them.
"""

import dataclasses
from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.branch_names import branch_names, unique_among
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.graph_copy import (
    CONDITIONALS,
    FUNCTION_CALLS,
    LOOPS,
    branch_graphs,
)
from recursive_tf.python.program.closed_graph import CALLS, MAPS, PUSHES
from recursive_tf.python.program.effects import contains, has_effect
from recursive_tf.python.tf_compat import FuncGraph


@dataclasses.dataclass(eq=False)
class Wait:
    """A place where a procedure waits for another.

    Attributes:
        op: The call, or the conditional.
        branches: The procedures that may be invoked. For a conditional on a bool that
            is the one for false, then the one for true.
    """

    op: tf.Operation
    branches: list["FlatProcedure"]

    @property
    def is_call(self) -> bool:
        """Whether it invokes a SubGraph."""
        return self.op.type in CALLS

    @property
    def results(self) -> list[tf.Tensor]:
        """What the procedure gets: a call's last output names it to a gradient."""
        outputs = list(self.op.outputs)
        return outputs[:-1] if self.is_call else outputs


@dataclasses.dataclass(eq=False)
class FlatProcedure:
    """A SubGraph's body, or a branch of it that is waited for.

    Attributes:
        name: Of the SubGraph, with the branch: see branch_names.py.
        around: The procedure that a branch stands in; None for a body.
        inputs: The arguments of a body. What a branch uses is not named here.
        ops: What computes rows, one an activation, in the order of the graph.
        waits: Its calls and conditionals, in order.
        pushes: Its pushes, in order.
        outputs: What it returns.
    """

    name: str
    around: "FlatProcedure | None"
    inputs: list[tf.Tensor]
    ops: list[tf.Operation] = dataclasses.field(default_factory=list)
    waits: list[Wait] = dataclasses.field(default_factory=list)
    pushes: list[tf.Operation] = dataclasses.field(default_factory=list)
    outputs: list[tf.Tensor] = dataclasses.field(default_factory=list)


class FlatProgram:
    """The procedures of a closed program, flattened.

    Attributes:
        graphs: The closed procedures: handle, inputs and captures are arguments.
        procedures: Those of the SubGraphs first, in their order, then the branches.
        captures: Which capture of the program an argument of a graph is, by id.

    Raises:
        CannotBatchError: If there is a call in a loop.
    """

    def __init__(
        self,
        graphs: Sequence[FuncGraph],
        capture_indices: Sequence[Sequence[int]],
        names: Sequence[str],
    ) -> None:
        self.graphs = list(graphs)
        self.captures: dict[int, int] = {}
        self.procedures: list[FlatProcedure] = []
        self._aliases: dict[int, tf.Tensor] = {}
        self._first_of_capture: dict[int, tf.Tensor] = {}
        self._is_row: dict[int, bool] = {}
        self._waiting: set[tf.Operation] = set()
        self._known: dict[FlatProcedure, dict[object, tf.Operation]] = {}
        self._order: dict[tf.Operation, int] = {}
        self._names = set(names)
        for graph, indices, name in zip(graphs, capture_indices, names, strict=True):
            first = len(graph.inputs) - len(indices)
            for argument, index in zip(graph.inputs[first:], indices, strict=True):
                self._bind_capture(argument, index)
            body = FlatProcedure(name, None, list(graph.inputs[1:first]))
            self.procedures.append(body)
        for graph, body in zip(graphs, list(self.procedures), strict=True):
            self._flatten(graph, body)

    def resolve(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns the tensor that computes what `tensor` is, through any nesting."""
        while id(tensor) in self._aliases:
            tensor = self._aliases[id(tensor)]
        return tensor

    def inputs_of(self, op: tf.Operation) -> list[tf.Tensor]:
        """Returns what computes the inputs of `op`."""
        return [self.resolve(tensor) for tensor in op.inputs]

    def order_of(self, op: tf.Operation) -> int:
        """Returns where `op` stands in the program; an op comes after its inputs."""
        return self._order[op]

    def is_row(self, tensor: tf.Tensor) -> bool:
        """Says whether a resolved tensor may differ from activation to activation."""
        known = self._is_row.get(id(tensor))
        if known is None:
            known = self._is_row[id(tensor)] = self._depends_on_activation(tensor)
        return known

    def _depends_on_activation(self, tensor: tf.Tensor) -> bool:
        op = tensor.op
        if id(tensor) in self.captures:
            return False
        if op.type == "Placeholder" or op in self._waiting:
            return True
        if has_effect(op):
            return True
        return any(self.is_row(i) for i in self.inputs_of(op))

    def _bind_capture(self, argument: tf.Tensor, index: int) -> None:
        """Makes one tensor stand for a capture in all procedures."""
        first = self._first_of_capture.setdefault(index, argument)
        self.captures[id(first)] = index
        if first is not argument:
            self._aliases[id(argument)] = first

    def _bind(self, tensors: Sequence[tf.Tensor], to: Sequence[tf.Tensor]) -> None:
        for tensor, target in zip(tensors, to, strict=True):
            self._aliases[id(tensor)] = target

    def _flatten(self, graph: FuncGraph, procedure: FlatProcedure) -> None:
        for op in graph.get_operations():
            self._order[op] = len(self._order)
            self._add(op, procedure)
        procedure.outputs = [self.resolve(output) for output in graph.outputs]

    def _add(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        if op.type in ("Placeholder", "NoOp"):
            return
        if op.type == "Identity" and not tf_compat.has_custom_gradient(op):
            self._bind(op.outputs, op.inputs)
        elif op.type in PUSHES:
            procedure.pushes.append(op)
        elif op.type in MAPS:
            raise CannotBatchError(
                op, "a map in a body is not batched. Use the dataflow executor."
            )
        elif op.type in CALLS:
            callee = self.procedures[op.get_attr("callee")]
            self._wait(op, procedure, [callee])
        elif op.type in CONDITIONALS and self._concerns_rows(op):
            self._add_branches(op, procedure)
        elif op.type in LOOPS | FUNCTION_CALLS and contains(op, CALLS | PUSHES):
            raise CannotBatchError(
                op,
                "calls and pushes in a loop are not batched. Make the loop a "
                "recursion, or use the dataflow executor.",
            )
        else:
            self._add_computation(op, procedure)

    def _concerns_rows(self, op: tf.Operation) -> bool:
        """Says whether activations may differ in what a conditional does for them."""
        return contains(op, CALLS | PUSHES) or any(map(self.is_row, self.inputs_of(op)))

    def _add_branches(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        graphs = branch_graphs(op)
        if "Case" not in op.type:
            graphs.reverse()  # By number: what is true is 1.
        branches = [
            FlatProcedure(self._name_of(f"{procedure.name}/{name}"), procedure, [])
            for name in branch_names(op, graphs)
        ]
        self._wait(op, procedure, branches)
        for graph, branch in zip(graphs, branches, strict=True):
            self._bind(graph.inputs, list(op.inputs)[1:])
            self.procedures.append(branch)
            self._flatten(graph, branch)

    def _name_of(self, branch: str) -> str:
        name = unique_among(self._names, branch)
        self._names.add(name)
        return name

    def _wait(
        self, op: tf.Operation, procedure: FlatProcedure, branches: list[FlatProcedure]
    ) -> None:
        self._waiting.add(op)
        procedure.waits.append(Wait(op, branches))

    def _add_computation(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        """Adds an op, unless the procedure, or one around it, has it already."""
        same = self._same_op(op, procedure)
        if same is not None:
            self._bind(op.outputs, same.outputs)
        elif not op.outputs or any(self.is_row(output) for output in op.outputs):
            procedure.ops.append(op)

    def _same_op(
        self, op: tf.Operation, procedure: FlatProcedure
    ) -> tf.Operation | None:
        if not op.outputs or has_effect(op) or tf_compat.has_custom_gradient(op):
            return None
        key = self._signature_of(op)
        at: FlatProcedure | None = procedure
        while at is not None:
            same = self._known.get(at, {}).get(key)
            if same is not None:
                return same
            at = at.around
        self._known.setdefault(procedure, {})[key] = op
        return None

    def _signature_of(self, op: tf.Operation) -> object:
        attrs = sorted(
            (name, value.SerializeToString(deterministic=True))
            for name, value in op.node_def.attr.items()
            if not name.startswith("_")
        )
        inputs = tuple(id(tensor) for tensor in self.inputs_of(op))
        return op.type, tuple(attrs), inputs
