"""The gradient of a root call."""

from typing import Any

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python import tf_compat
from recursive_tf.python.gradient.program_gradient import ProgramGradient
from recursive_tf.python.gradient.sinks import (
    SUMMED,
    add_up,
    gradient_of_slot,
    shape_of,
)
from recursive_tf.python.program.trainable import is_trainable

# Where a procedure's graph keeps the gradient of the program that it is the entry of.
_CACHE = "recursive_program_gradient"


def gradient_of_invoke(op: tf.Operation, *gradients: Any) -> list[Any]:
    """Turns the root op into its training form, and adds the backward root op.

    Returns:
        A gradient or None for each input of the op.
    """
    # Under a tape, `op` is a stand-in. The real one is found, and the gradient made
    # to depend on it, by reading the handle.
    activation = op.outputs[-1]
    op = activation.op
    program = _gradient_of_program(op)
    _to_training_form(op, program)
    num_args = len(op.get_attr("Targs"))
    num_captures = len(op.get_attr("Tcaptures"))
    inputs = list(op.inputs)
    args = inputs[:num_args]
    captures = inputs[num_args : num_args + num_captures]
    results = _add_backward_op(op, program, captures, gradients)
    found = iter(results.input_gradients)
    by_args = [next(found) if is_trainable(a.dtype) else None for a in args]
    by_captures = _capture_gradients(program, captures, list(results.sinks))
    for tensor, gradient in zip(args, by_args, strict=True):
        if gradient is not None:
            gradient.set_shape(tensor.shape)
    return by_args + by_captures + [None] * (len(inputs) - num_args - num_captures)


def refuse_second_order(op: tf.Operation, *_gradients: Any) -> list[Any]:
    """Raises: there are no gradients of gradients of recursive calls yet."""
    name = op.get_attr("names")[0].decode()
    raise NotImplementedError(
        f"The gradient of a gradient of SubGraph '{name}' is not supported yet. If it "
        "is not meant, take the first gradient where no outer tape records: after the "
        "tape's `with` block, or in `with outer_tape.stop_recording():`. Forward mode "
        "(tf.autodiff.ForwardAccumulator) is not supported either."
    )


def refuse_gradient_inside(op: tf.Operation, *_gradients: Any) -> list[Any]:
    """Raises: a tape within a body cannot see through a call that is not closed."""
    raise NotImplementedError(
        f"A gradient is taken inside of a SubGraph's body, through the call '{op.name}'"
        f" at {tf_compat.op_traceback(op)}. That is not supported: take the gradient "
        "of the root call."
    )


def graphs_of(op: tf.Operation) -> list[tf_compat.FuncGraph]:
    """Returns the graphs of the procedures that a root op carries."""
    return [
        tf_compat.to_func_graph(tf_compat.find_function(op.graph, function.name))
        for function in op.get_attr("procedures")
    ]


def _gradient_of_program(op: tf.Operation) -> ProgramGradient:
    graphs = graphs_of(op)
    known = getattr(graphs[0], _CACHE, None)
    if known is None:
        known = ProgramGradient(graphs, capture_indices(op))
        entry = tf_compat.to_func_graph(known.training[0])
        for graph in (graphs[0], entry):
            setattr(graph, _CACHE, known)
    return known


def capture_indices(op: tf.Operation) -> list[list[int]]:
    """Returns which captures of the root op each procedure takes."""
    flat = iter(op.get_attr("capture_indices"))
    return [
        [next(flat) for _ in range(count)] for count in op.get_attr("capture_counts")
    ]


def _to_training_form(op: tf.Operation, program: ProgramGradient) -> None:
    if not op.get_attr("keep"):
        tf_compat.set_functions(op, "procedures", program.training)
        tf_compat.set_attr(op, "keep", tf_compat.AttrValue(b=True))


def _add_backward_op(
    op: tf.Operation,
    program: ProgramGradient,
    captures: list[tf.Tensor],
    gradients: tuple[Any, ...],
) -> Any:
    num_outputs = len(op.get_attr("Toutputs"))
    dense = [as_dense(g, t) for g, t in zip(gradients, op.outputs, strict=True)]
    outputs = zip(op.outputs[:num_outputs], dense, strict=False)
    slots = program.sinks.slots
    parts = [part for slot in slots for part in slot.parts]
    graph = tf_compat.default_graph()
    for function in program.gradients:
        tf_compat.add_function(graph, function)
    return library.recursive_invoke_gradient(
        activation=op.outputs[-1],
        output_gradients=[dy for y, dy in outputs if is_trainable(y.dtype)],
        pushed_gradients=dense[num_outputs:-1],
        captures=captures,
        sum_shapes=[
            shape_of(captures[slot.capture]) for slot in slots if slot.kind == SUMMED
        ],
        procedures=[tf.compat.as_str(f.name) for f in program.gradients],
        names=op.get_attr("names"),
        capture_counts=[len(indices) for indices in program.captures],
        capture_indices=[i for indices in program.captures for i in indices],
        Tinput_gradients=[spec.dtype for spec in program.argument_specs],
        Tsinks=[part.dtype for part in parts],
        mapped=op.get_attr("mapped"),
        slot_kinds=[slot.kind for slot in slots],
        slot_sizes=[len(slot.parts) for slot in slots],
        sink_shapes=[part.shape for part in parts],
        name=op.name.rsplit("/", maxsplit=1)[-1] + "_gradient",
    )


def as_dense(gradient: Any, like: tf.Tensor) -> tf.Tensor:
    """Returns a gradient as a tensor; of what has none, and of handles, zeros."""
    if like.dtype == tf.variant:
        return like
    return tf.zeros_like(like) if gradient is None else tf.convert_to_tensor(gradient)


def _capture_gradients(
    program: ProgramGradient, captures: list[tf.Tensor], parts: list[tf.Tensor]
) -> list[Any]:
    found: list[list[Any]] = [[] for _ in captures]
    for slot in program.sinks.slots:
        own, parts = parts[: len(slot.parts)], parts[len(slot.parts) :]
        for part, spec in zip(own, slot.parts, strict=True):
            part.set_shape(spec.shape)
        capture = captures[slot.capture]
        found[slot.capture].append(gradient_of_slot(slot, own, capture))
    return [add_up(gradients) for gradients in found]
