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
from recursive_tf.python.root_op import BATCHED, Carried


def tied(
    op: tf.Operation,
    carried: Carried,
    given: Mapping[int, tf.Tensor],
    gradients: Sequence[Any],
) -> list[Any]:
    """Returns the gradients of a root op, tied to ports.

    Args:
        op: The root op.
        carried: What it carries, not in training form.
        given: The gradients of its outputs and tables, by their index.
        gradients: A gradient or None for each argument and capture.
    """
    found = {
        i: gradient for i, gradient in enumerate(gradients) if gradient is not None
    }
    if not found:
        return list(gradients)
    ports = _add_ports(op, carried, given, found)
    tensors = iter(ports)
    return [
        None if gradient is None else _tie(gradient, next(tensors))
        for gradient in gradients
    ]


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
        policy=op.get_attr("policy") if is_batched else "",
        results=list(given),
        inputs_of_ports=list(gradients),
        name=op.name.rsplit("/", maxsplit=1)[-1] + "_ports",
        **carried.attributes(tf_compat.default_graph()),
    )
    tf_compat.mark_resources_read_only(ports[0].op)
    return list(ports)


def _tie(
    gradient: tf.Tensor | tf.IndexedSlices, port: tf.Tensor
) -> tf.Tensor | tf.IndexedSlices:
    if isinstance(gradient, tf.Tensor):
        return library.recursive_tie(gradient=gradient, port=port)
    values = library.recursive_tie_slices(
        values=gradient.values,
        indices=gradient.indices,
        dense_shape=tf.cast(gradient.dense_shape, tf.int64),
        port=port,
    )
    return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)


def gradient_of_tie(op: tf.Operation, gradient: Any) -> list[Any]:
    """Hands the gradient of a gradient to its port, and to nothing else."""
    del op
    return [None, gradient]


def gradient_of_tied_slices(op: tf.Operation, gradient: Any) -> list[Any]:
    """The same. The port gets the gradient by the slices as one dense tensor.

    Slices of one row of a table are one gradient, of which they are parts. Where they
    are used as such, they all have the same gradient, that of the row.
    """
    _, indices, shape, _ = op.inputs
    slices = tf.convert_to_tensor(gradient)
    rows = tf.math.unsorted_segment_mean(slices, indices, shape[0])
    rows.set_shape(tf.TensorShape([None]).concatenate(slices.shape[1:]))
    parts = [slices]
    if slices.dtype.is_complex:
        parts = [tf.math.real(slices), tf.math.imag(slices)]
    with tf.control_dependencies(
        [_check_alike(part, indices, shape) for part in parts]
    ):
        return [None, None, None, tf.identity(rows)]


def _check_alike(slices: tf.Tensor, indices: tf.Tensor, shape: tf.Tensor) -> Any:
    largest = tf.math.unsorted_segment_max(slices, indices, shape[0])
    same = tf.equal(tf.gather(largest, indices), slices)
    return tf.debugging.Assert(
        tf.reduce_all(same | tf.math.is_nan(slices)),
        [
            "The gradient of a gradient: a look-up of a SubGraph has a gradient that "
            "is tf.IndexedSlices, with several slices for one row, which were used "
            "each by itself. Use tf.convert_to_tensor of it."
        ],
    )
