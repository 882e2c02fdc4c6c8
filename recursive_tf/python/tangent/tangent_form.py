"""Procedures that also compute the tangents of what they compute.

The copy of a procedure takes, after each floating-point argument, its tangent, and
returns one after each floating-point result. Calls, branches, loops and pushes do the
same. So what it is made into is a procedure like any other.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python import tf_compat
from recursive_tf.python.program.closed_graph import CALLS, MAPS, SHARED_CALLS
from recursive_tf.python.program.functional_ops import (
    add_conditional,
    add_loop,
    begin_loop_part,
    loop_graphs,
)
from recursive_tf.python.program.graph_copy import (
    CONDITIONALS,
    FUNCTION_CALLS,
    LOOPS,
    GraphCopy,
    Rewrite,
    Substitution,
    branch_graphs,
    inline_call,
)
from recursive_tf.python.program.trainable import is_trainable
from recursive_tf.python.tangent.no_tangent import NoTangent, Tangent
from recursive_tf.python.tangent.op_tangents import tangents_of
from recursive_tf.python.tf_compat import FuncGraph

# What these did they have done when the program ran.
_DONE_BEFORE = ("Assert", "PrintV2", "RecursiveKeep")
_ADD = {
    "RecursiveCall": library.recursive_call,
    "RecursiveMap": library.recursive_map,
    "StatelessRecursiveCall": library.stateless_recursive_call,
    "RecursiveSharedCall": library.recursive_shared_call,
    "StatelessRecursiveMap": library.stateless_recursive_map,
    "StatelessRecursiveSharedCall": library.stateless_recursive_shared_call,
}


class TangentForm:
    """Makes procedures of one program compute tangents.

    Args:
        slots: For the index of a table, those of it and of its tangents, which are
            None where rows are not floating-point.
    """

    def __init__(self, slots: Sequence[tuple[int, int | None]]) -> None:
        self._slots = slots
        # By the id of the tensor, in the copy, that changes by it.
        self._tangents: dict[int, Tangent] = {}
        self._alive: list[tf.Tensor] = []
        substitutions: dict[str, Substitution] = {
            **dict.fromkeys(_DONE_BEFORE, lambda _copy, _op: ()),
            **dict.fromkeys(CALLS - SHARED_CALLS, self._copy_call),
            **dict.fromkeys(SHARED_CALLS, self._copy_shared_call),
            **dict.fromkeys(CONDITIONALS, self._copy_conditional),
            **dict.fromkeys(LOOPS, self._copy_loop),
            **dict.fromkeys(FUNCTION_CALLS, inline_call),
            "RecursivePush": self._copy_push,
        }
        self._rewrite = Rewrite(substitutions, otherwise=self._copy_op)

    def procedure_of(
        self,
        graph: FuncGraph,
        capture_indices: Sequence[int],
        changing: Mapping[int, tf.TensorSpec],
    ) -> FuncGraph:
        """Returns a closed procedure that computes tangents.

        Args:
            graph: Takes a handle, arguments, and captures.
            capture_indices: Which captures of the program these are.
            changing: The captures of the program that change, and what their tangents
                are: the last arguments of the copy.
        """
        target = FuncGraph(tf_compat.unique_name(graph.name))
        copy = GraphCopy(graph, target, self._rewrite)
        first = len(graph.inputs) - len(capture_indices)
        copy.bind_input(graph.inputs[0])
        for argument in graph.inputs[1:first]:
            copy.bind_input(argument)
            if is_trainable(argument.dtype):
                self._add_input(copy.resolve(argument), argument)
        for argument in graph.inputs[first:]:
            copy.bind_input(argument)
        for argument, index in zip(graph.inputs[first:], capture_indices, strict=True):
            if index in changing:
                self._add_input(copy.resolve(argument), changing[index])
        copy.run()
        with target.as_default():
            target.outputs = self._with_tangents(target.outputs)
        return target

    def _add_input(self, tensor: tf.Tensor, like: tf.Tensor | tf.TensorSpec) -> None:
        """Makes a new input of the graph of `tensor` its tangent."""
        tangent = tf_compat.placeholder_like(tensor.graph, like)
        tensor.graph.inputs.append(tangent)
        self._bind(tensor, tangent)

    def _bind(self, tensor: tf.Tensor, tangent: Tangent) -> None:
        if tangent is not None:
            self._tangents[id(tensor)] = tangent
            self._alive.append(tensor)

    def _known(self, tensor: tf.Tensor) -> tf.Tensor | None:
        """Returns a tensor's tangent, or None for zero.

        Raises:
            NotImplementedError: If nobody knows it.
        """
        tangent = self._tangents.get(id(tensor))
        if isinstance(tangent, NoTangent):
            tangent.refuse()
        return tangent

    def _or_zeros(self, tensor: tf.Tensor) -> tf.Tensor:
        tangent = self._known(tensor)
        return tf.zeros_like(tensor) if tangent is None else tangent

    def _with_tangents(self, tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """Returns tensors, with a tangent after each floating-point one."""
        found = []
        for tensor in tensors:
            found.append(tensor)
            if is_trainable(tensor.dtype):
                found.append(self._or_zeros(tensor))
        return found

    def _copy_op(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
        new = copy.copy_as_is(op)
        tangents = [self._tangents.get(id(copy.resolve(t))) for t in op.inputs]
        for output, tangent in zip(
            new.outputs, tangents_of(new, tangents), strict=True
        ):
            self._bind(output, tangent)
        return list(new.outputs)

    def _copy_call(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
        handle, *arguments = (copy.resolve(tensor) for tensor in op.inputs)
        attributes = {n: op.get_attr(n) for n in ("callee", "site", "repeated")}
        if op.type in MAPS:
            shared = arguments[len(arguments) - op.get_attr("num_shared") :]
            attributes["num_shared"] = sum(1 + is_trainable(t.dtype) for t in shared)
        args = self._with_tangents(arguments)
        return self._add_call(copy, op, handle=handle, args=args, **attributes)

    def _copy_shared_call(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
        # No argument of it has a tangent: so what is shared has one result for all.
        handle, key, *arguments = (copy.resolve(tensor) for tensor in op.inputs)
        callee = op.get_attr("callee")
        return self._add_call(
            copy, op, handle=handle, key=key, args=arguments, callee=callee
        )

    def _add_call(
        self, copy: GraphCopy, op: tf.Operation, **inputs_and_attributes: Any
    ) -> list[tf.Tensor]:
        """Adds a call like `op` that returns tangents, too."""
        outputs = list(op.outputs)[:-1]
        doubled = [t for t in outputs for _ in range(1 + is_trainable(t.dtype))]
        results = _ADD[op.type](
            Toutputs=[t.dtype for t in doubled],
            output_shapes=[t.shape for t in doubled],
            **inputs_and_attributes,
        )
        copy.register(op, results.activation.op)
        return [*self._without_tangents(outputs, results.outputs), results.activation]

    def _without_tangents(
        self, outputs: Sequence[tf.Tensor], results: Sequence[tf.Tensor]
    ) -> list[tf.Tensor]:
        """Returns what stands for `outputs` among results that have tangents, too."""
        rest = iter(results)
        found = []
        for output in outputs:
            found.append(next(rest))
            if is_trainable(output.dtype):
                self._bind(found[-1], next(rest))
        return found

    def _copy_push(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
        handle, index, value = (copy.resolve(tensor) for tensor in op.inputs)
        slot, slot_of_tangent = self._slots[op.get_attr("slot")]
        push = functools.partial(library.recursive_push, handle=handle, index=index)
        copy.register(op, push(value=value, slot=slot))
        if slot_of_tangent is not None:
            push(value=self._or_zeros(value), slot=slot_of_tangent)
        return []

    def _copy_conditional(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
        branches = [
            copy.branch(graph, list(op.inputs)[1:], "branch")
            for graph in branch_graphs(op)
        ]
        for branch in branches:
            branch.run()
        values = [[b.resolve(y) for y in b.source.outputs] for b in branches]
        changing = [
            i
            for i, outputs in enumerate(zip(*values, strict=True))
            if any(self._known(tensor) is not None for tensor in outputs)
        ]
        for branch, outputs in zip(branches, values, strict=True):
            self._add_tangents(branch, [outputs[i] for i in changing])
        with copy.target.as_default():
            new = add_conditional(
                copy.resolve(op.inputs[0]),
                [branch.target for branch in branches],
                by_index="Case" in op.type,
                name=op.name,
            )
        copy.register(op, new)
        return self._bind_results(op, new, changing)

    def _add_tangents(self, part: GraphCopy, tensors: Sequence[tf.Tensor]) -> None:
        """Makes the tangents of tensors further outputs of a branch or a loop."""
        with part.target.as_default():
            for tensor in tensors:
                tangent = self._or_zeros(tensor)
                part.target.outputs.append(part.target.capture(tangent))

    def _bind_results(
        self, op: tf.Operation, new: tf.Operation, changing: Sequence[int]
    ) -> list[tf.Tensor]:
        """Returns the outputs of an op that has tangents behind those of `op`."""
        count = len(op.outputs)
        for i, tangent in zip(changing, new.outputs[count:], strict=False):
            self._bind(new.outputs[i], tangent)
        return list(new.outputs)[:count]

    def _copy_loop(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
        start = [copy.resolve(variable) for variable in op.inputs]
        changing = [i for i, t in enumerate(start) if self._known(t) is not None]
        while True:
            parts = self._copy_loop_parts(copy, op, start, changing)
            _, body = parts
            results = [body.resolve(output) for output in body.source.outputs]
            found = [i for i, t in enumerate(results) if self._known(t) is not None]
            if set(found) <= set(changing):
                break
            # What changes in the first turn may change other variables in the next.
            changing = sorted({*changing, *found})
        self._add_tangents(body, [results[i] for i in changing])
        with copy.target.as_default():
            tangents = [self._or_zeros(start[i]) for i in changing]
        shapes = [
            t.shape if output.dtype == tf.resource else output.shape
            for output, t in zip(
                [*op.outputs, *(op.outputs[i] for i in changing)],
                [*op.outputs, *tangents],
                strict=True,
            )
        ]
        graphs = [part.target for part in parts]
        new = add_loop(
            copy, op, start=[*start, *tangents], shapes=shapes, graphs=graphs
        )
        return self._bind_results(op, new, changing)

    def _copy_loop_parts(
        self,
        copy: GraphCopy,
        op: tf.Operation,
        start: Sequence[tf.Tensor],
        changing: Sequence[int],
    ) -> list[GraphCopy]:
        """Returns copies of a loop's condition and body that take tangents, too."""
        parts = []
        for graph in loop_graphs(op):
            part = begin_loop_part(copy, graph, start)
            for i in changing:
                variable = graph.inputs[i]
                like = variable
                if variable.dtype == tf.resource:
                    like = self._known(start[i])
                self._add_input(part.resolve(variable), like)
            part.run()
            parts.append(part)
        return parts
