"""Gradients that ops have of their own, as those of `tf.custom_gradient`.

What the user wrote is a function of Python that holds tensors of the body. It is
traced once for each such op, for one activation, and its ops are vectorized as others.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.program.effects import ops_of_functions
from recursive_tf.python.program.graph_copy import CONDITIONALS, LOOPS
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


class OwnGradients:
    """The ops of a program that have one.

    Args:
        resolve: Returns the tensor that computes what one of a closed procedure is.
        is_of_program: Says whether a resolved tensor is of one of the procedures.
    """

    def __init__(
        self,
        resolve: Callable[[tf.Tensor], tf.Tensor],
        is_of_program: Callable[[tf.Tensor], bool],
    ) -> None:
        self._resolve = resolve
        self._is_of_program = is_of_program
        self._has: dict[tf.Operation, bool] = {}
        self._found: dict[tf.Operation, OwnGradient | CannotBatchError] = {}

    def has(self, op: tf.Operation) -> bool:
        """Says whether `op`, of any closed graph, has a gradient of its own."""
        known = self._has.get(op)
        if known is None:
            known = self._has[op] = tf_compat.has_custom_gradient(op)
        return known

    def differ(self, op: tf.Operation) -> bool:
        """Says whether `op`, or one in its branches, has a gradient of its own.

        What that is of a sum need not be the sum of what it is of each: it may clip. So
        each activation has its own, also of what all activations share.
        """
        if op.type in LOOPS | CONDITIONALS:
            return any(map(self.has, ops_of_functions(op)))
        return self.has(op)

    def of(self, op: tf.Operation) -> OwnGradient:
        """Returns the gradient that `op`, of any closed graph, has of its own.

        Raises:
            CannotBatchError: If that cannot be batched.
        """
        if op not in self._found:
            try:
                self._found[op] = trace_own_gradient(op)
            except CannotBatchError as error:
                self._found[op] = error
        found = self._found[op]
        if isinstance(found, CannotBatchError):
            raise found
        return found

    def used_by(self, op: tf.Operation) -> list[tf.Tensor]:
        """Returns the resolved tensors that the gradient of `op` uses, if it has one.

        A gradient that uses what the program does not have cannot be batched.
        """
        if not self.has(op):
            return []
        try:
            captures = self.of(op).captures
        except CannotBatchError:  # It runs all the same, if nobody wants a gradient.
            return []
        used = [
            self._resolve(tensor)
            for tensor in captures
            if not isinstance(tensor, tf_compat.EagerTensor) and tensor.op is not op
        ]
        unknown = [tensor for tensor in used if not self._is_of_program(tensor)]
        if unknown:
            self._found[op] = CannotBatchError(
                op,
                "it has a gradient of its own, e.g. of tf.custom_gradient, which uses "
                f"{unknown[0].name}, and the SubGraph does not. Make it an argument of "
                "the function with the gradient, or use the dataflow executor.",
            )
            return []
        return used


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
