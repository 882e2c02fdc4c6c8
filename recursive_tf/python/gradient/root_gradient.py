"""The gradient of a root call."""

import dataclasses
from typing import Any

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python import tf_compat
from recursive_tf.python.gradient.ports import tied
from recursive_tf.python.gradient.program_gradient import ProgramGradient
from recursive_tf.python.gradient.sinks import (
    SUMMED,
    add_up,
    gradient_of_slot,
    shape_of,
)
from recursive_tf.python.program.dense import dense_or_zeros
from recursive_tf.python.program.derived import derived, is_form_of
from recursive_tf.python.program.trainable import is_trainable
from recursive_tf.python.program.unneeded import Unneeded, unneeded_of
from recursive_tf.python.root_calls.root_op import (
    Carried,
    capture_indices,
    procedures_of,
    refuse_tangents,
)


def gradient_of_invoke(op: tf.Operation, *gradients: Any) -> list[Any]:
    """Turns the root op into its training form, and adds the backward root op.

    Returns:
        A gradient or None for each input of the op.
    """
    # Under a tape, `op` is a stand-in. The real one is found, and the gradient made
    # to depend on it, by reading the handle.
    unneeded = unneeded_of(op)
    activation = op.outputs[-1]
    op = activation.op
    refuse_tangents(op.get_attr("names")[0].decode(), [*op.inputs, *gradients])
    program = _gradient_of_program(op, unneeded)
    carried = dataclasses.replace(Carried.by(op), procedures=program.inference)
    _to_training_form(op, program)
    num_args = len(op.get_attr("Targs"))
    num_captures = len(op.get_attr("Tcaptures"))
    inputs = list(op.inputs)
    args = inputs[:num_args]
    captures = inputs[num_args : num_args + num_captures]
    of_values = zip(gradients[:-1], op.outputs[:-1], strict=True)
    # The last names the activation, and stands for itself.
    given_all = [*(dense_or_zeros(g, t) for g, t in of_values), op.outputs[-1]]
    results = _add_backward_op(op, program, captures, given_all)
    by_input = iter(results.input_gradients)
    by_args = [next(by_input) if is_trainable(a.dtype) else None for a in args]
    for index in unneeded.arguments:
        by_args[index] = None
    by_captures = _capture_gradients(program, captures, list(results.sinks))
    for tensor, gradient in zip(args, by_args, strict=True):
        if gradient is not None:
            gradient.set_shape(tensor.shape)
    given = {i: dy for i, dy in enumerate(given_all) if is_trainable(dy.dtype)}
    found = tied(op, carried, given, results, by_args + by_captures)
    return found + [None] * (len(inputs) - len(found))


def refuse_gradient_inside(op: tf.Operation, *_gradients: Any) -> list[Any]:
    """Raises: a tape within a body cannot see through a call that is not closed."""
    raise NotImplementedError(
        f"A gradient is taken inside of a SubGraph's body, through the call '{op.name}'"
        f" at {tf_compat.op_traceback(op)}. That is not supported: take the gradient "
        "of the root call."
    )


def _gradient_of_program(op: tf.Operation, unneeded: Unneeded) -> ProgramGradient:
    procedures = procedures_of(op)
    entry = tf_compat.to_func_graph(procedures[0])
    mapped = op.get_attr("mapped")
    # Those of a root op that has been differentiated are in training form.
    inference = derived(entry, "inference", lambda: procedures)

    def make() -> ProgramGradient:
        made = ProgramGradient(inference, capture_indices(op), unneeded, mapped=mapped)
        is_form_of(tf_compat.to_func_graph(made.training[0]), entry)
        return made

    return derived(entry, ("gradient", unneeded, mapped), make)


def _to_training_form(op: tf.Operation, program: ProgramGradient) -> None:
    if not op.get_attr("keep"):
        tf_compat.set_functions(op, "procedures", program.training)
        tf_compat.set_attr(op, "keep", tf_compat.AttrValue(b=True))


def _add_backward_op(
    op: tf.Operation,
    program: ProgramGradient,
    captures: list[tf.Tensor],
    dense: list[tf.Tensor],
) -> Any:
    num_outputs = len(op.get_attr("Toutputs"))
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
        captures=[tf_compat.without_function(capture) for capture in captures],
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
        schedule=op.get_attr("schedule"),
        slot_kinds=[slot.kind for slot in slots],
        slot_sizes=[len(slot.parts) for slot in slots],
        sink_shapes=[part.shape for part in parts],
        name=op.name.rsplit("/", maxsplit=1)[-1] + "_gradient",
    )


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
