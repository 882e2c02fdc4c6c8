"""What makes the gradients of a root call differentiable, at no cost until they are.

Each gradient is tied to a port of one op, which stands for all of them: a gradient of
the gradient goes through the tie to the port, and past all that computed the gradient.
So the op gets the cotangents of all gradients together.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python import tf_compat
from recursive_tf.python.gradient.cotangents import is_zero
from recursive_tf.python.options import BATCHED_ATTRIBUTES
from recursive_tf.python.program.dense import dense, shape_like
from recursive_tf.python.root_calls.dense_gradients import wants_dense_gradients
from recursive_tf.python.root_calls.root_op import BATCHED, BATCHED_GRADIENT, Carried


def tied(
    op: tf.Operation,
    carried: Carried,
    given: Mapping[int, tf.Tensor],
    results: Any,
    gradients: Sequence[Any],
) -> list[Any]:
    """Returns the gradients of a root op, tied to ports.

    Slices of one row are one slice, whatever ran: an optimizer that squares slices,
    as Keras's do, would else depend on how often a row was looked up, and where.

    Args:
        op: The root op.
        carried: What it carries, not in training form.
        given: The gradients of its outputs and tables, by their index.
        results: What the backward root op gives.
        gradients: A gradient or None for each argument and capture.
    """
    if wants_dense_gradients(op.graph):
        gradients = [
            None if gradient is None else dense(gradient, tensor)
            for gradient, tensor in zip(gradients, op.inputs, strict=False)
        ]
    gradients = list(map(_added_up, gradients))
    found = {
        i: gradient for i, gradient in enumerate(gradients) if gradient is not None
    }
    if not found:
        return list(gradients)
    # After that op: TensorFlow's executor goes on with what is cheap, and gives
    # what is not to another thread, which takes as long as a small launch.
    with tf.control_dependencies(tf.nest.flatten(results)[:1]):
        ports = _add_ports(op, carried, given, found)
    of_inputs = dict(zip(found, ports, strict=True))
    if wants_dense_gradients(op.graph):
        for i, port in of_inputs.items():
            shape_like(port, op.inputs[i])
    result = list(gradients)
    for together in _by_source(found):
        ties = _tie([found[i] for i in together], [of_inputs[i] for i in together])
        for i, gradient in zip(together, ties, strict=True):
            result[i] = gradient
    return result


def _added_up(gradient: Any) -> Any:
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    if gradient.values.op.type == BATCHED_GRADIENT:  # It adds them up itself.
        return gradient
    result = library.recursive_add_up_slices(
        values=gradient.values, indices=gradient.indices
    )
    result.sums.set_shape([None, *gradient.values.shape[1:]])
    result.rows.set_shape([None])
    return tf.IndexedSlices(result.sums, result.rows, gradient.dense_shape)


def _by_source(gradients: Mapping[int, Any]) -> list[list[int]]:
    """Returns which gradients one op gives: these have one tie.

    So a gradient that nobody wants is left out of the graph with what computes it, and
    a step does not run a kernel for each capture.
    """
    sources: dict[tf.Operation, list[int]] = {}
    for i, gradient in gradients.items():
        sources.setdefault(_values_of(gradient).op, []).append(i)
    return list(sources.values())


def _values_of(gradient: tf.Tensor | tf.IndexedSlices) -> tf.Tensor:
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


def _add_ports(
    op: tf.Operation,
    carried: Carried,
    given: Mapping[int, tf.Tensor],
    gradients: Mapping[int, Any],
) -> list[tf.Tensor]:
    num_args, num_captures = (len(op.get_attr(name)) for name in ("Targs", "Tcaptures"))
    inputs = [tf_compat.without_function(tensor) for tensor in op.inputs]
    is_batched = op.type == BATCHED
    ports = library.recursive_ports(
        args=inputs[:num_args],
        captures=inputs[num_args : num_args + num_captures],
        push_sizes=inputs[num_args + num_captures :],
        output_gradients=list(given.values()),
        Tports=[gradient.dtype for gradient in gradients.values()],
        **{
            name: op.get_attr(name) if is_batched else "" for name in BATCHED_ATTRIBUTES
        },
        results=list(given),
        inputs_of_ports=list(gradients),
        name=op.name.rsplit("/", maxsplit=1)[-1] + "_ports",
        **carried.attributes(tf_compat.default_graph()),
    )
    tf_compat.mark_resources_read_only(ports[0].op)
    return list(ports)


def _tie(gradients: Sequence[Any], ports: Sequence[tf.Tensor]) -> list[Any]:
    sliced = {
        i: gradient
        for i, gradient in enumerate(gradients)
        if isinstance(gradient, tf.IndexedSlices)
    }
    results: list[Any] = library.recursive_tie(
        gradients=[_values_of(gradient) for gradient in gradients],
        ports=ports,
        indices=[slices.indices for slices in sliced.values()],
        dense_shapes=[tf.cast(s.dense_shape, tf.int64) for s in sliced.values()],
        sliced=list(sliced),
    )
    for i, slices in sliced.items():
        results[i] = tf.IndexedSlices(results[i], slices.indices, slices.dense_shape)
    return results


def gradient_of_tie(op: tf.Operation, *gradients: Any) -> list[Any]:
    """Hands the gradients of gradients to their ports, and to nothing else."""
    outputs = op.outputs[0].op.outputs  # Under a tape, `op` was a stand-in.
    by_ports: list[Any] = [
        None if is_zero(gradient, output) else gradient
        for gradient, output in zip(gradients, outputs, strict=True)
    ]
    others = iter(op.inputs[2 * len(gradients) :])
    sliced = op.get_attr("sliced")
    all_indices = [next(others) for _ in sliced]
    for i, indices, shape in zip(sliced, all_indices, others, strict=True):
        if by_ports[i] is not None:
            by_ports[i] = _by_rows(by_ports[i], indices, shape)
    return [*[None] * len(gradients), *by_ports, *[None] * (2 * len(sliced))]


def _by_rows(gradient: Any, indices: tf.Tensor, shape: tf.Tensor) -> tf.Tensor:
    """Returns the gradient by slices, of which each row has one, as a dense tensor."""
    slices = tf.convert_to_tensor(gradient)
    rows = tf.math.unsorted_segment_sum(slices, indices, shape[0])
    rows.set_shape(tf.TensorShape([None]).concatenate(slices.shape[1:]))
    return rows
