"""From the closed procedures of a program to flat ones: see flat_program.py."""

from collections.abc import Collection, Sequence

import tensorflow as tf

from recursive_tf.python.batching.flatten.branch_names import branch_names
from recursive_tf.python.batching.flatten.computations import Computations
from recursive_tf.python.batching.flatten.flat_program import (
    FlatProcedure,
    FlatProgram,
    Wait,
)
from recursive_tf.python.batching.flatten.late_rows import take_late_as_rows
from recursive_tf.python.batching.flatten.maps import Maps
from recursive_tf.python.batching.flatten.procedure_names import procedure_names
from recursive_tf.python.batching.refusal import varying
from recursive_tf.python.program.closed_graph import CALLS, MAPS, PUSHES, SHARED_CALLS
from recursive_tf.python.program.effects import contains, has_effect
from recursive_tf.python.program.functional_ops import is_kept
from recursive_tf.python.program.graph_copy import CONDITIONALS, LOOPS, branch_graphs
from recursive_tf.python.tf_compat import FuncGraph


def flatten(
    graphs: Sequence[FuncGraph],
    capture_indices: Sequence[Sequence[int]],
    names: Sequence[str],
    waiting_loops: Collection[tf.Operation] = (),
) -> FlatProgram:
    """Returns a program without nesting.

    Args:
        graphs: The closed procedures.
        capture_indices: Which captures of the program the last arguments of each are.
        names: Of the SubGraphs.
        waiting_loops: Loops without a call that are procedures all the same.

    Raises:
        CannotBatchError: If a list is where none can be.
    """
    program = FlatProgram(graphs)
    _add_bodies(program, capture_indices)
    flattening = _Flattening(program, waiting_loops)
    flattening.place_shared_bodies()
    for graph, body in zip(graphs, list(program.procedures), strict=True):
        body.outputs = flattening.add_graph(graph, body)
    # The first one always runs, if there are rows at all.
    for procedure in program.procedures[1:]:
        take_late_as_rows(program, flattening.computations, procedure)
    for procedure in program.procedures:
        _check_lists(program, procedure)
    found = procedure_names(program.procedures, names)
    for procedure, name in zip(program.procedures, found, strict=True):
        procedure.name = name
    return program


def _add_bodies(program: FlatProgram, capture_indices: Sequence[Sequence[int]]) -> None:
    """Adds a procedure for each SubGraph; one tensor stands for a capture in all."""
    first_of: dict[int, tf.Tensor] = {}
    for graph, indices in zip(program.graphs, capture_indices, strict=True):
        num_own = len(graph.inputs) - len(indices)
        for argument, index in zip(graph.inputs[num_own:], indices, strict=True):
            first = first_of.setdefault(index, argument)
            program.captures[id(first)] = index
            if first is not argument:
                program.bind([argument], [first])
        program.procedures.append(
            FlatProcedure("body", None, list(graph.inputs[1:num_own]))
        )


class _Flattening:
    """A flat program while it is made.

    Attributes:
        computations: What its procedures compute.
    """

    def __init__(
        self,
        program: FlatProgram,
        waiting_loops: Collection[tf.Operation],
    ) -> None:
        self._program = program
        self._waiting_loops = waiting_loops
        self.computations = Computations(program)
        self._maps = Maps(program, self.computations)

    def place_shared_bodies(self) -> None:
        """Makes the bodies of memoized SubGraphs branches of their fronts."""
        procedures = self._program.procedures
        for graph, front in zip(self._program.graphs, list(procedures), strict=True):
            for op in graph.get_operations():
                if op.type in SHARED_CALLS:
                    body = procedures[op.get_attr("callee")]
                    body.around = front
                    body.part = "shared"

    def add_graph(self, graph: FuncGraph, procedure: FlatProcedure) -> list[tf.Tensor]:
        """Adds the ops of a graph, and returns its outputs."""
        for op in graph.get_operations():
            self._program.add_last(op)
            self._add(op, procedure)
        return [self._program.resolve(output) for output in graph.outputs]

    def _add(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        if op.type in ("Placeholder", "NoOp"):
            return
        if op.type == "Identity" and not self._program.own_gradients.has(op):
            self._program.bind(op.outputs, op.inputs)
        elif op.type in PUSHES:
            self._add_push(op, procedure)
        elif op.type in MAPS:
            self._maps.add(op, procedure)
        elif op.type in SHARED_CALLS:
            self._add_shared_call(op, procedure)
        elif op.type in CALLS:
            self._add_call(op, procedure)
        elif op.type in CONDITIONALS and self._concerns_rows(op):
            self._add_branches(op, procedure)
        elif op.type in LOOPS and self._is_procedure(op):
            self._add_loop(op, procedure)
        else:
            self.computations.add(op, procedure)

    def _add_call(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        callee = self._program.procedures[op.get_attr("callee")]
        arguments = [self._program.resolve(tensor) for tensor in list(op.inputs)[1:]]
        results = list(op.outputs)[:-1]  # The last names it to a gradient.
        wait = Wait(op, [callee], None, arguments, results, op.get_attr("site"))
        self._program.wait(procedure, wait)

    def _add_shared_call(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        body = self._program.procedures[op.get_attr("callee")]
        key, *arguments = map(self._program.resolve, list(op.inputs)[1:])
        results = list(op.outputs)[:-1]  # The last names it to a gradient.
        wait = Wait(op, [body], None, arguments, results, key=key)
        self._program.wait(procedure, wait)

    def _concerns_rows(self, op: tf.Operation) -> bool:
        """Says whether activations may differ in what a conditional does for them.

        Or in its gradient, if the user wrote that.
        """
        is_of_each = contains(op, CALLS | PUSHES) or has_effect(op)
        if is_of_each or self._program.own_gradients.differ(op):
            return True
        return any(map(self._program.is_row, self._program.inputs_of(op)))

    def _add_push(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        handle, index, value = self._program.inputs_of(op)
        # Whoever reads it reads both. So there need not be a block that casts.
        if index.op.type == "Cast" and index.op.get_attr("SrcT") == tf.int32:
            index = self._program.inputs_of(index.op)[0]
        self._program.set_inputs(op, [handle, index, value])
        procedure.pushes.append(op)

    def _add_branches(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        graphs = branch_graphs(op)
        if "Case" not in op.type:
            graphs.reverse()  # By number: what is true is 1.
        branches = [
            FlatProcedure(name, procedure, []) for name in branch_names(op, graphs)
        ]
        selector = self._program.resolve(op.inputs[0])
        wait = Wait(op, branches, selector, results=list(op.outputs))
        self._program.wait(procedure, wait)
        for graph, branch in zip(graphs, branches, strict=True):
            self._program.bind(graph.inputs, list(op.inputs)[1:])
            self._program.procedures.append(branch)
            branch.outputs = self.add_graph(graph, branch)

    def _is_procedure(self, op: tf.Operation) -> bool:
        return op in self._waiting_loops or contains(op, CALLS | PUSHES)

    def _add_loop(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        """Adds a procedure for a loop, and in it a branch for another turn."""
        program = self._program
        condition, body = branch_graphs(op)
        own = [i for i in range(len(body.outputs)) if not is_kept(body, i)]
        kept = [i for i in range(len(body.outputs)) if i not in own]
        for tensors in (condition.inputs, body.inputs, op.outputs):
            program.bind([tensors[i] for i in kept], [op.inputs[i] for i in kept])
        variables = [condition.inputs[i] for i in own]
        program.bind([body.inputs[i] for i in own], variables)
        loop = FlatProcedure("loop", procedure, variables)
        turn = FlatProcedure("turn", loop, [], turns=loop)
        end = FlatProcedure("end", loop, [])
        start = [program.resolve(op.inputs[i]) for i in own]
        results = [op.outputs[i] for i in own]
        program.wait(procedure, Wait(op, [loop], None, start, results))
        program.procedures += [loop, turn, end]
        (goes_on,) = self.add_graph(condition, loop)
        last = program.add_last(program.made.values_like(variables))
        loop.outputs = list(last.outputs)
        program.wait(loop, Wait(last, [end, turn], goes_on, results=loop.outputs))
        end.outputs = variables
        new = self.add_graph(body, turn)
        turn.next_turn = [new[i] for i in own]


def _check_lists(program: FlatProgram, procedure: FlatProcedure) -> None:
    """Refuses lists that are given to other activations, or pushed."""
    given = [*procedure.outputs, *procedure.next_turn]
    given += [t for push in procedure.pushes for t in program.inputs_of(push)]
    for wait in procedure.waits:
        given += wait.arguments[wait.num_mapped :]
    for tensor in filter(program.lists.is_list, given):
        raise varying(tensor)
