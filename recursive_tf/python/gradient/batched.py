"""The gradient of a root call in the batched executor."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python import tf_compat
from recursive_tf.python.batching.compilation import (
    Compilation,
    Training,
    compiled_once,
)
from recursive_tf.python.batching.refusal import CannotBatchError, refused
from recursive_tf.python.gradient.cotangents import is_zero
from recursive_tf.python.gradient.ports import tied
from recursive_tf.python.gradient.prologue_gradients import PrologueGradients
from recursive_tf.python.gradient.recomputed import gradient_by_recomputing
from recursive_tf.python.program.dense import dense_or_zeros
from recursive_tf.python.program.trainable import is_trainable
from recursive_tf.python.program.unneeded import Unneeded, unneeded_of
from recursive_tf.python.root_calls.root_op import (
    Carried,
    capture_indices,
    graphs_of,
    must_batch,
    refuse_tangents,
    texts_of,
)


def gradient_of_invoke_batched(op: tf.Operation, *gradients: Any) -> list[Any]:
    """Turns the root op into its training form, and adds the backward root op.

    If that cannot be batched, the gradient is that of the dataflow executor, unless
    the user asked for the batched executor by name.

    Returns:
        A gradient or None for each input of the op.
    """
    unneeded = unneeded_of(op)
    activation = op.outputs[-1]
    op = activation.op  # Under a tape, `op` was a stand-in.
    name = op.get_attr("names")[0].decode()
    refuse_tangents(name, [*op.inputs, *gradients])
    try:
        compilation = compilation_of(op)
        training = compilation.training(unneeded)
        _to_training_form(op, compilation, training)
    except CannotBatchError as error:
        if not must_batch(op):
            return gradient_by_recomputing(op, gradients, error)
        raise refused(f"The gradient of SubGraph '{name}'", error) from error
    return _gradient_by_replaying(op, compilation, training, unneeded, gradients)


def _gradient_by_replaying(
    op: tf.Operation,
    compilation: Compilation,
    training: Training,
    unneeded: Unneeded,
    gradients: Sequence[Any],
) -> list[Any]:
    num_args, num_captures = (len(op.get_attr(name)) for name in ("Targs", "Tcaptures"))
    args = op.inputs[:num_args]
    captures = op.inputs[num_args : num_args + num_captures]
    arguments = [
        i
        for i, a in enumerate(args)
        if is_trainable(a.dtype) and i not in unneeded.arguments
    ]
    rows = _rows_of_prologue(compilation)
    given = _given(op, gradients)
    results = _add_backward_op(op, compilation, training, given, arguments, rows)
    by_args: list[Any] = [None] * num_args
    for index, gradient in zip(arguments, results.input_gradients, strict=True):
        gradient.set_shape(args[index].shape)
        by_args[index] = gradient
    of_prologue = PrologueGradients(compilation.prologue, captures, results.reached)
    outputs = compilation.outputs
    for index, gradient in zip(rows, results.prologue_gradients, strict=True):
        taker = outputs.taker_of_value(index)
        of_prologue.add(outputs.tensors[index], [gradient], [taker])
    parts = iter(results.deferred_gradients)
    for gradient in training.deferred_gradients.gradients:
        own = [next(parts) for _ in gradient.specs]
        for part, spec in zip(own, gradient.specs, strict=True):
            part.set_shape(spec.shape)
        of_prologue.add(gradient.tensor, own, gradient.blocks)
    found = by_args + of_prologue.of_captures()
    tied_ones = tied(op, Carried.by(op), given, results, found)
    return tied_ones + [None] * (len(op.inputs) - len(found))


def compilation_of(op: tf.Operation) -> Compilation:
    """Returns what a root op was compiled to; where it was loaded, once more."""
    return compiled_once(graphs_of(op), capture_indices(op), texts_of(op, "names"))


def _to_training_form(
    op: tf.Operation, compilation: Compilation, training: Training
) -> None:
    if not op.get_attr("keep"):
        attributes = compilation.training_attributes(
            op.graph, training, texts_of(op, "names")
        )
        tf_compat.set_attrs(op, {**attributes, "keep": True})


def _rows_of_prologue(compilation: Compilation) -> list[int]:
    """Returns which values of the prologue activations use as rows of their own."""
    tensors = compilation.outputs.tensors[: len(compilation.plan.prologue)]
    return [i for i, tensor in enumerate(tensors) if is_trainable(tensor.dtype)]


def _given(op: tf.Operation, gradients: Sequence[Any]) -> dict[int, tf.Tensor]:
    """Returns the gradients of outputs and tables that are not zero, by their index."""
    return {
        i: dense_or_zeros(gradient, output)
        for i, (gradient, output) in enumerate(
            zip(gradients[:-1], op.outputs[:-1], strict=True)
        )
        if is_trainable(output.dtype) and not is_zero(gradient, output)
    }


def _add_backward_op(
    op: tf.Operation,
    compilation: Compilation,
    training: Training,
    given: dict[int, tf.Tensor],
    arguments: list[int],
    rows: list[int],
) -> Any:
    num_outputs = len(op.get_attr("Toutputs"))
    results = [i for i in given if i < num_outputs]
    tables = [i - num_outputs for i in given if i >= num_outputs]
    graph = tf_compat.default_graph()
    prologue = compilation.outputs.tensors
    return library.recursive_invoke_batched_gradient(
        activation=op.outputs[-1],
        output_gradients=[given[i] for i in results],
        pushed_gradients=[given[i + num_outputs] for i in tables],
        names=op.get_attr("names"),
        Tinput_gradients=[op.inputs[i].dtype for i in arguments],
        Tprologue_gradients=[prologue[i].dtype for i in rows],
        mapped=op.get_attr("mapped"),
        block_kind=op.get_attr("block_kind"),
        schedule=op.get_attr("schedule"),
        results=results,
        tables=tables,
        arguments=arguments,
        prologue_outputs=rows,
        gradient_plan=training.gradient_plan(),
        **training.deferred_gradients.attributes(compilation.outputs),
        name=op.name.rsplit("/", maxsplit=1)[-1] + "_gradient",
        **compilation.plan_attributes(texts_of(op, "names")),
        **training.backward.attributes(graph, "backward"),
        **training.deferred.attributes(graph, "deferred"),
    )
