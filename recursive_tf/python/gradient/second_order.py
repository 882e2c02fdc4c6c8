"""The gradient of a root call's gradients.

Be y = f(x) and g = J'(x) c the gradients by x, for a gradient c of y. Where v is the
gradient of g, that of <v, g> = <c, J(x) v> is asked for. J(x) v is what the tangent
program of f gives beside y, if x changes by v: so it is the gradient by c. And the
gradient by x is that of another root call, of the tangent program, which is
differentiated like any other; and so often as somebody likes.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.compilation import compiled_once
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.gradient.batched import gradient_of_invoke_batched
from recursive_tf.python.gradient.cotangents import is_zero
from recursive_tf.python.gradient.root_gradient import gradient_of_invoke
from recursive_tf.python.gradient.sinks import shape_of
from recursive_tf.python.options import BATCHED_ATTRIBUTES, POLICIES
from recursive_tf.python.program.derived import derived
from recursive_tf.python.program.trainable import is_trainable
from recursive_tf.python.root_calls.fallback import fell_back
from recursive_tf.python.root_calls.root_op import (
    DATAFLOW,
    Carried,
    Chosen,
    add_root_op,
)
from recursive_tf.python.tangent import (
    TangentProgram,
    slots_with_tangents,
    with_tangents,
)

_NOT_BATCHED = "The call whose gradient is differentiated is not batched."


def gradient_of_ports(op: tf.Operation, *gradients: Any) -> list[Any]:
    """Adds a root call of the tangent program, and its gradient.

    Returns:
        A gradient or None for each input of the op.
    """
    op = op.outputs[0].op  # Under a tape, `op` was a stand-in.
    of_ports = op.get_attr("inputs_of_ports")
    tangents = {
        i: gradient
        for i, gradient, port in zip(of_ports, gradients, op.outputs, strict=True)
        if not is_zero(gradient, port)
    }
    if not tangents:
        return [None] * len(op.inputs)
    try:
        return _SecondGradient(op, tangents).by_inputs()
    except NotImplementedError as error:
        if not _may_never_run():
            raise
        return _fails_when_run(op, str(error))


def _may_never_run() -> bool:
    """Returns whether the function that is traced is one in another, e.g. a branch.

    If several tapes record, TensorFlow traces the gradients of gradients of nested
    branches and loops before anybody asks for them. Nobody may.
    """
    graphs = tf_compat.graph_chain(tf_compat.default_graph())
    return sum(isinstance(graph, tf_compat.FuncGraph) for graph in graphs) > 1


def _fails_when_run(op: tf.Operation, message: str) -> list[Any]:
    """Returns gradients that are an error if they are computed."""
    zeros = [_zeros_for(tensor) for tensor in op.inputs]
    with tf.control_dependencies([tf.debugging.Assert(tf.constant(False), [message])]):
        # TensorFlow leaves out what it knows to be zeros.
        return [None if tensor is None else tf.identity(tensor) for tensor in zeros]


def _zeros_for(tensor: tf.Tensor) -> tf.Tensor | None:
    if tensor.dtype == tf.resource:
        spec = tf_compat.spec_of_variable(tensor)
        return None if spec is None else tf.zeros(shape_of(tensor), spec.dtype)
    return tf.zeros_like(tensor) if is_trainable(tensor.dtype) else None


class _SecondGradient:
    """The gradient of one op with ports.

    Args:
        op: The op.
        tangents: What its arguments and captures change by, by their index.
    """

    def __init__(self, op: tf.Operation, tangents: Mapping[int, Any]) -> None:
        self._op = op
        inputs = iter(op.inputs)
        self._args = [next(inputs) for _ in op.get_attr("Targs")]
        self._captures = [next(inputs) for _ in op.get_attr("Tcaptures")]
        self._sizes = [next(inputs) for _ in op.get_attr("Tpush_sizes")]
        self._given = dict(zip(op.get_attr("results"), inputs, strict=True))
        self._tangents = {
            i: _shaped_like(op.inputs[i], tf.convert_to_tensor(tangent))
            for i, tangent in tangents.items()
        }
        self._carried = Carried.by(op)

    def by_inputs(self) -> list[Any]:
        """Returns a gradient or None for each input of the op."""
        root = self._call()
        values = list(root.op.outputs)[:-1]
        tangents = self._tangents_among(values)
        upstream: list[Any] = [None] * len(values)
        for i, gradient in self._given.items():
            upstream[tangents[i]] = gradient
        differentiate = (
            gradient_of_invoke
            if root.op.type == DATAFLOW
            else gradient_of_invoke_batched
        )
        found = iter(differentiate(root.op, *upstream, None))
        by_args = []
        for arg in self._args:
            by_args.append(next(found))
            if is_trainable(arg.dtype):
                next(found)  # By its tangent: that is its first gradient.
        by_captures = [next(found) for _ in self._captures]
        by_sizes = [None] * len(self._sizes)
        return [*by_args, *by_captures, *by_sizes, *self._by_given(values, tangents)]

    def _by_given(
        self, values: Sequence[tf.Tensor], tangents: Mapping[int, int]
    ) -> list[tf.Tensor]:
        found = []
        for i, gradient in self._given.items():
            value = values[tangents[i]]
            value.set_shape(gradient.shape)
            found.append(value)
        return found

    def _tangents_among(self, values: Sequence[tf.Tensor]) -> dict[int, int]:
        """Returns where the tangents of outputs and tables are among `values`."""
        specs = [*self._carried.outputs, *self._carried.rows]
        slots = slots_with_tangents(specs)
        assert len(with_tangents(specs)) == len(values)
        return {i: place for i, (_, place) in enumerate(slots) if place is not None}

    def _call(self) -> Any:
        """Returns the handle of a root call of the tangent program."""
        args = []
        for i, arg in enumerate(self._args):
            args.append(arg)
            if is_trainable(arg.dtype):
                tangent = self._tangents.get(i)
                args.append(tf.zeros_like(arg) if tangent is None else tangent)
        first = len(self._args)
        changing = {i - first: t for i, t in self._tangents.items() if i >= first}
        carried = self._carried_by(changing)
        rows = self._carried.rows
        sizes = [
            size
            for size, row in zip(self._sizes, rows, strict=True)
            for _ in with_tangents([row])
        ]
        results = add_root_op(
            carried,
            self._chosen(carried),
            args=args,
            captures=[*self._captures, *changing.values()],
            push_sizes=sizes,
            name=carried.names[0],
        )
        tf_compat.mark_resources_read_only(results.activation.op)
        return results.activation

    def _carried_by(self, changing: Mapping[int, tf.Tensor]) -> Carried:
        """Returns the tangent program, made once for what changes."""
        carried = self._carried
        specs = {i: tf.TensorSpec(t.shape, t.dtype) for i, t in changing.items()}
        entry = tf_compat.to_func_graph(carried.procedures[0])
        key = tuple((i, s.dtype, str(s.shape)) for i, s in specs.items())
        program = derived(
            entry, ("tangents", key), lambda: self._tangent_program(specs)
        )
        pushes = zip(carried.pushes, carried.rows, strict=True)
        return dataclasses.replace(
            carried,
            procedures=program.procedures,
            captures=program.captures,
            outputs=with_tangents(carried.outputs),
            pushes=[name for name, row in pushes for _ in with_tangents([row])],
            rows=with_tangents(carried.rows),
        )

    def _tangent_program(self, changing: Mapping[int, tf.TensorSpec]) -> TangentProgram:
        carried = self._carried
        try:
            return TangentProgram(
                [tf_compat.to_func_graph(p) for p in carried.procedures],
                carried.captures,
                changing,
                carried.rows,
                len(self._captures),
            )
        except NotImplementedError as error:
            raise NotImplementedError(
                f"SubGraph '{carried.names[0]}' has no gradient of its gradient. "
                f"{error}"
            ) from error

    def _chosen(self, carried: Carried) -> Chosen:
        """Returns what runs the tangent program: what ran the program, if it can."""
        attributes = {
            name: self._op.get_attr(name).decode() for name in BATCHED_ATTRIBUTES
        }
        if not attributes["policy"]:
            return Chosen(None, {}, [_NOT_BATCHED])
        graphs = [tf_compat.to_func_graph(p) for p in carried.procedures]
        try:
            compilation = compiled_once(graphs, carried.captures, carried.names)
            compilation.training()
        except CannotBatchError as error:
            fell_back(f"The second gradient of SubGraph '{carried.names[0]}'", error)
            return Chosen(None, {}, [str(error)])
        if attributes["policy"] not in POLICIES:
            # It was learned for blocks of the program, not of the tangent program.
            attributes["policy"] = POLICIES[0]
        return Chosen(compilation, attributes, [])


def _shaped_like(tensor: tf.Tensor, tangent: tf.Tensor) -> tf.Tensor:
    """Returns a tangent with the shape of what changes by it.

    Zeros for a port, which a function around makes, are a scalar.
    """
    if tensor.dtype == tf.resource:
        shaped = tf.broadcast_to(tangent, shape_of(tensor))
        if tangent.shape.rank:
            shaped.set_shape(tangent.shape)
        return shaped
    if not (tensor.shape.is_fully_defined() and tangent.shape == tensor.shape):
        tangent = tf.broadcast_to(tangent, shape_of(tensor))
        tangent.set_shape(tensor.shape)
    return tangent
