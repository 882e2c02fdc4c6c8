"""What becomes of each op of a traced body when its program is closed."""

import dataclasses
import functools
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python import tf_compat
from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.program.assertions import guarded_assertion
from recursive_tf.python.program.captures import Capture, VariableValue
from recursive_tf.python.program.closed_graph import closed_graph_around
from recursive_tf.python.program.definition import Definition
from recursive_tf.python.program.draws import (
    DRAWS,
    drawn,
    draws_within,
    is_draw,
    is_step_of_generator,
    seed_of,
)
from recursive_tf.python.program.effects import (
    contains,
    order_around_calls,
)
from recursive_tf.python.program.functional_ops import copy_conditional, copy_loop
from recursive_tf.python.program.graph_copy import (
    CONDITIONALS,
    FUNCTION_CALLS,
    LOOPS,
    GraphCopy,
    Rewrite,
    Substitution,
    branch_graphs,
)
from recursive_tf.python.program.lazy_pushes import LazyPush
from recursive_tf.python.program.map_loops import (
    as_map,
    outputs_of,
    rows_for,
    rows_of,
)
from recursive_tf.python.program.path_keys import (
    KEY,
    key_of_shared,
    keys_of_rows,
    mixed,
    next_key,
)
from recursive_tf.python.program.pushes import PushedTable, PushedTables
from recursive_tf.python.tracing.function_graph import CALL, MAP, PUSH, SHARED_CALL
from recursive_tf.python.tracing.specs import (
    as_declared,
    format_spec,
    spec_of,
    with_rows,
)

CALLS = frozenset((CALL, MAP, SHARED_CALL))
_TRACED = CALLS | {PUSH}


@dataclasses.dataclass
class _Call:
    """A call of a closed program, or one for each row of its arguments.

    Attributes:
        traced: What was traced of it.
        handle: Of the activation that calls.
        arguments: That the callee declared.
        output_shapes: Of the results; nothing if none is used.
        is_mapped: Whether arguments and results have rows in front.
    """

    traced: tf.Operation
    handle: tf.Tensor
    arguments: list[tf.Tensor]
    output_shapes: Sequence[Any]
    is_mapped: bool


class Closing:
    """The substitutions in the bodies of one program, and what they find out about it.

    Attributes:
        rewrite: The substitutions, and what stays in order.
        captures: What the program takes of the outside.
    """

    def __init__(
        self,
        definitions: Sequence[Definition],
        hidden: dict[int, list[tf.Tensor]],
        drawing: Collection[int],
        *,
        only_reads: bool,
        lazy: Sequence[LazyPush] = (),
    ) -> None:
        self._lazy = {push.op: push for push in lazy}
        self._definitions = {d.id: d for d in definitions}
        self._indices = {d.id: i for i, d in enumerate(definitions)}
        self._hidden = hidden
        self._drawing = drawing
        self._only_reads = only_reads
        self._here = tf_compat.current_device()
        self._capture_ids: dict[Hashable, int] = {}
        self.captures: list[Capture] = []
        self._tables = PushedTables()
        substitutions: dict[str, Substitution] = {
            CALL: self._close_call,
            MAP: self._close_call,
            SHARED_CALL: self._close_shared_call,
            PUSH: self._close_push,
            "AssignVariableOp": _leave_out_step,
            **dict.fromkeys(DRAWS, self._draw),
            "ReadVariableOp": self._draw_or_read_once,
            "ResourceGather": self._look_up_elsewhere,
            "ResourceGatherNd": self._look_up_elsewhere,
            **dict.fromkeys(CONDITIONALS, _close_conditional),
            **dict.fromkeys(LOOPS, self._close_loop),
            "TensorListStack": _stack,
            **dict.fromkeys(FUNCTION_CALLS, _inline),
        }
        self.rewrite = Rewrite(
            substitutions, keeps_order=self._keeps_order, orders=self._orders
        )

    @property
    def pushes(self) -> Mapping[str, PushedTable]:
        """The tables that the program pushes to, by name."""
        return self._tables.by_name

    def index_of(self, capture: Capture) -> int:
        """Returns the index of what is taken of the outside among all of that."""
        key = capture.key()
        if key not in self._capture_ids:
            self._capture_ids[key] = len(self.captures)
            self.captures.append(capture)
        return self._capture_ids[key]

    def takes_key(self, definition: Definition) -> bool:
        """Says whether a procedure takes a key for random numbers."""
        return definition.id in self._drawing

    def _keeps_order(self, before: tf.Operation, after: tf.Operation) -> bool:
        """Says whether `after` must wait for `before`, which it was told to.

        Automatic control dependencies chain all calls. Where nothing has an effect
        that another op sees, waiting for a call only costs its parallelism.
        """
        del after
        return not (self._only_reads and contains(before, CALLS))

    def _orders(self, graph: tf_compat.FuncGraph) -> None:
        """Orders what is in a closed graph, if the program has effects."""
        if not self._only_reads:
            order_around_calls(graph)

    def _close_call(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
        handle, *arguments = map(copy.resolve, op.inputs)
        shapes = op.get_attr("output_shapes")
        is_mapped = op.type == MAP
        call = _Call(op, handle, arguments, shapes, is_mapped)
        results = self._add_call(copy, op, call)
        return results if shapes else results[-1:]

    def _close_loop(
        self, copy: GraphCopy, op: tf.Operation
    ) -> Sequence[tf.Tensor] | None:
        loop = as_map(op) if self._only_reads else None
        if loop is None:
            return _copy_loop(copy, op)
        rows = tf.TensorShape([None])
        shapes = [rows.concatenate(output.shape) for output in loop.call.outputs[:-1]]
        handle, arguments = copy.resolve(loop.handle), rows_for(copy, loop)
        call = _Call(loop.call, handle, arguments, shapes, is_mapped=True)
        return outputs_of(copy, op, loop, self._add_call(copy, op, call))

    def _add_call(
        self, copy: GraphCopy, source: tf.Operation, call: _Call
    ) -> list[tf.Tensor]:
        """Adds a call, in place of `source`."""
        callee = self._definitions[call.traced.get_attr("subgraph")]
        specs = callee.signature.flat_inputs
        if call.is_mapped:
            specs = [with_rows(spec) for spec in specs]
        _check_call(callee, specs, call.arguments, call.traced)
        returns = callee.signature.flat_outputs
        shapes = call.output_shapes or [
            (with_rows(spec) if call.is_mapped else spec).shape for spec in returns
        ]
        pairs = zip(call.arguments, specs, strict=True)
        arguments = [as_declared(argument, spec) for argument, spec in pairs]
        if self.takes_key(callee):
            key = next_key(copy)
            keys = keys_of_rows(key, arguments[0]) if call.is_mapped else key
            arguments.append(keys)
        hidden = [_visible(copy, tensor) for tensor in self._hidden[callee.id]]
        procedure = closed_graph_around(copy.target)
        results = self._library_call(call.is_mapped, len(hidden))(
            handle=call.handle,
            args=arguments + hidden,
            callee=self._indices[callee.id],
            site=procedure.num_sites,
            repeated=copy.repeated,
            Toutputs=[spec.dtype for spec in returns],
            output_shapes=shapes,
            name="map" if call.is_mapped else "call",
        )
        procedure.num_sites += 1
        copy.register(source, results.activation.op)
        return [*results.outputs, results.activation]

    def _library_call(self, is_mapped: bool, num_hidden: int) -> Callable[..., Any]:
        calls = (library.recursive_call, library.recursive_map)
        if self._only_reads:
            calls = (library.stateless_recursive_call, library.stateless_recursive_map)
        add: Callable[..., Any] = calls[is_mapped]
        if not is_mapped:
            return add
        return functools.partial(add, num_shared=num_hidden)

    def _close_shared_call(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
        handle, key, *arguments = (copy.resolve(tensor) for tensor in op.inputs)
        callee = self._definitions[op.get_attr("subgraph")]
        index = self._indices[callee.id]
        if self.takes_key(callee):
            arguments.append(key_of_shared(index, key))
        add = (
            library.stateless_recursive_shared_call
            if self._only_reads
            else library.recursive_shared_call
        )
        results = add(
            handle=handle,
            key=key,
            args=arguments,
            callee=index,
            Toutputs=op.get_attr("Toutputs"),
            output_shapes=op.get_attr("output_shapes"),
            name="shared",
        )
        copy.register(op, results.activation.op)
        return [*results.outputs, results.activation]

    def _close_push(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
        if op in self._lazy:
            return self._tables.close_lazy_push(copy, op, self._lazy[op])
        return self._tables.close_push(copy, op)

    def _draw(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor] | None:
        if not is_draw(op):
            return None
        index = self.index_of(seed_of(copy, op))
        seed = closed_graph_around(copy.target).capture_argument(index, KEY)
        first = len(copy.target.get_operations())
        numbers = drawn(copy, op, mixed(next_key(copy), seed))
        for added in copy.target.get_operations()[first:]:
            tf_compat.set_origin(added, op)
        return [numbers]

    def _draw_or_read_once(
        self, copy: GraphCopy, op: tf.Operation
    ) -> list[tf.Tensor] | None:
        return self._draw(copy, op) or self._read_once(copy, op)

    def _read_once(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor] | None:
        external = self._variable_outside(copy, op)
        if external is None:
            return None
        return [self._value_of(copy, external, spec_of(op.outputs[0]))]

    def _look_up_elsewhere(
        self, copy: GraphCopy, op: tf.Operation
    ) -> list[tf.Tensor] | None:
        """Looks up in what the root call reads: an op sees the variables of its device.

        Else the root call would have to be where the variable is.
        """
        external = self._variable_outside(copy, op)
        if external is None or not tf_compat.is_elsewhere(external, self._here):
            return None
        spec = tf_compat.spec_of_variable(external)
        if spec is None:
            return None
        value = self._value_of(copy, external, spec)
        indices = copy.resolve(op.inputs[1])
        if op.type == "ResourceGatherNd":
            return [tf.gather_nd(value, indices)]
        return [tf.gather(value, indices, batch_dims=op.get_attr("batch_dims"))]

    def _variable_outside(self, copy: GraphCopy, op: tf.Operation) -> tf.Tensor | None:
        """Returns the handle of what `op` reads, if the root call may read it."""
        if not self._only_reads:
            return None
        outermost, handle = copy.origin(op.inputs[0])
        external = outermost.outside.external_of(handle)
        if external is None or id(external) in _hidden_ids(copy):
            return None
        return external

    def _value_of(
        self, copy: GraphCopy, external: tf.Tensor, spec: tf.TensorSpec
    ) -> tf.Tensor:
        index = self.index_of(VariableValue(external, spec))
        return closed_graph_around(copy.target).capture_argument(index, spec)


def _leave_out_step(copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor] | None:
    """Leaves out what the root call does once, for all draws."""
    del copy
    return [] if is_step_of_generator(op) else None


def _close_conditional(copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
    assertion = guarded_assertion(op)
    if assertion is None:
        return copy_conditional(copy, op)
    return copy.inline(op, assertion, list(op.inputs)[1:])


def _copy_loop(copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
    """Copies any loop: the graphs of one that is not copied hold the traced body."""
    has_key = closed_graph_around(copy.target).key is not None
    needs_key = has_key and bool(contains(op, _TRACED) or draws_within(op))
    return copy_loop(copy, op, counted=needs_key)


def _stack(copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor] | None:
    rows = rows_of(copy, op)
    return None if rows is None else [rows]


def _inline(copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor] | None:
    """Copies what a function does, so that reads of variables in it are seen."""
    if op.node_def.attr["_XlaMustCompile"].b and not (
        contains(op, _TRACED) or draws_within(op)
    ):
        return None
    (graph,) = branch_graphs(op)
    return copy.inline(op, graph)


def _hidden_ids(copy: GraphCopy) -> dict[int, tf.Tensor]:
    return closed_graph_around(copy.target).hidden


def _visible(copy: GraphCopy, tensor: tf.Tensor) -> tf.Tensor:
    """Returns what stands for a hidden input of a callee where it is called."""
    procedure = closed_graph_around(copy.target)
    if id(tensor) in procedure.hidden:
        return procedure.hidden[id(tensor)]
    around = copy.enclosing(tensor.graph)
    if around is None:
        raise SubGraphError(
            f"A SubGraph that uses {tensor.name} is called where that tensor does not "
            "exist. Call it in the branch that defines it."
        )
    return around.resolve(tensor)


def _check_call(
    callee: Definition,
    specs: list[tf.TensorSpec],
    arguments: list[tf.Tensor],
    op: tf.Operation,
) -> None:
    """Checks a call that was traced before its callee's inputs were known."""
    fits = len(specs) == len(arguments) and all(
        spec.dtype == argument.dtype and spec.shape.is_compatible_with(argument.shape)
        for spec, argument in zip(specs, arguments, strict=True)
    )
    if not fits:
        takes = ", ".join(map(format_spec, specs))
        got = ", ".join(format_spec(spec_of(a)) for a in arguments)
        raise SubGraphError(
            f"SubGraph '{callee.name}' takes ({takes}), but a call before its "
            f"definition, at {tf_compat.op_traceback(op)}, passes ({got})."
        )
