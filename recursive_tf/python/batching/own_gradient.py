"""Gradients that ops have of their own, as those of `tf.custom_gradient`.

What the user wrote is a function of Python that holds tensors of the body. It is
traced once for each such op, for one activation, and its ops are vectorised as others.
"""

import dataclasses
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.program.trainable import is_trainable
from recursive_tf.python.tf_compat import FuncGraph


@dataclasses.dataclass(frozen=True)
class OwnGradient:
    """The gradient of an op, for one activation.

    Attributes:
        graph: Takes gradients of the outputs `cotangents`, and then `captures`. Gives
            gradients of the inputs `inputs`.
        cotangents: Indices of outputs of the op.
        captures: Tensors of closed procedures, outputs of the op itself, and constants.
        inputs: Indices of inputs of the op.
    """

    graph: FuncGraph
    cotangents: tuple[int, ...]
    captures: tuple[tf.Tensor, ...]
    inputs: tuple[int, ...]


def trace_own_gradient(op: tf.Operation) -> OwnGradient:
    """Returns the gradient that `op`, of a closed procedure, has of its own.

    Raises:
        CannotBatchError: If it is not known, fails, or uses a variable.
    """
    gradient = tf_compat.custom_gradient_of(op)
    if gradient is None:
        raise CannotBatchError(
            op,
            "it has a gradient of its own that is not there any more: it was not saved "
            "with the SubGraph.",
        )
    graph = FuncGraph(tf_compat.unique_name("own_gradient"))
    places = {
        i: tf_compat.placeholder_like(graph, output)
        for i, output in enumerate(op.outputs)
        if is_trainable(output.dtype) and is_read(output)
    }
    with graph.as_default():
        given = [
            places[i] if i in places else _no_gradient(output)
            for i, output in enumerate(op.outputs)
        ]
        found = _as_list(_run(gradient, op, given))
        results = {
            i: graph.capture(tf.convert_to_tensor(result))
            for i, result in enumerate(found)
            if result is not None
        }
    captures = [external for external, _ in graph.captures]
    if any(tensor.dtype == tf.resource for tensor in captures):
        raise CannotBatchError(
            op,
            "it has a gradient of its own, e.g. of tf.custom_gradient, which uses a "
            "variable that the op does not take. Make it an argument of the function "
            "with the gradient, or use the dataflow executor.",
        )
    graph.inputs = [*places.values(), *(internal for _, internal in graph.captures)]
    graph.outputs = list(results.values())
    return OwnGradient(graph, tuple(places), tuple(captures), tuple(results))


def _run(gradient: Any, op: tf.Operation, given: list[Any]) -> Any:
    """Calls a function of the user's; the dataflow executor says what it raises."""
    try:
        return gradient(op, *given)
    except Exception as error:
        raise CannotBatchError(
            op, f"its own gradient raises {type(error).__name__}: {error}."
        ) from error


def is_read(tensor: tf.Tensor) -> bool:
    """Says whether something uses a tensor of a closed procedure."""
    outputs = tensor.graph.outputs
    return bool(tensor.consumers()) or any(tensor is output for output in outputs)


def _no_gradient(output: tf.Tensor) -> tf.Tensor | None:
    return tf.zeros_like(output) if is_trainable(output.dtype) else None


def _as_list(found: Any) -> list[Any]:
    return list(found) if isinstance(found, list | tuple) else [found]
