"""The gradient of a vectorized block, op by op.

TensorFlow's gradient functions are what ops are differentiated with. The loop around
them is here, because TensorFlow's own makes a lookup's gradient dense where the table
is used in another way too, and does not say which op has no gradient.
"""

from collections.abc import Sequence
from typing import TypeAlias

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.differentiate.op_gradients import gradient_function
from recursive_tf.python.batching.graphs.wide_sums import sum_by_segment
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.program.trainable import is_trainable
from recursive_tf.python.tf_compat import FuncGraph

Gradient: TypeAlias = tf.Tensor | tf.IndexedSlices


def add_gradients(
    graph: FuncGraph,
    ys: Sequence[tf.Tensor],
    dys: Sequence[tf.Tensor],
    xs: Sequence[tf.Tensor],
) -> list[list[Gradient]]:
    """Adds the gradient of `ys` by `xs` to `graph`.

    Returns:
        For each of `xs` what adds up to its gradient: at most one dense tensor, and
        slices for each lookup in it.
    """
    dependent = _dependent(graph, xs)
    found: dict[int, list[Gradient]] = {}
    for y, dy in zip(ys, dys, strict=True):
        found.setdefault(id(y), []).append(dy)
    with graph.as_default():
        for op in reversed(graph.get_operations()):
            if not op.inputs or not any(id(t) in dependent for t in op.outputs):
                continue
            arrived = [
                dense_sum(found.get(id(output), []), output) for output in op.outputs
            ]
            if all(gradient is None for gradient in arrived):
                continue
            gradients = _differentiated(op, arrived)
            for tensor, gradient in zip(op.inputs, gradients, strict=True):
                if gradient is not None and id(tensor) in dependent:
                    found.setdefault(id(tensor), []).append(gradient)
        return [_collected(found.get(id(x), []), x) for x in xs]


def _dependent(graph: FuncGraph, xs: Sequence[tf.Tensor]) -> set[int]:
    """Returns the ids of what has a gradient by some of `xs`, these included."""
    dependent = set(map(id, xs))
    for op in graph.get_operations():
        if any(id(tensor) in dependent for tensor in op.inputs) and not stops(op):
            dependent.update(id(t) for t in op.outputs if is_trainable(t.dtype))
    return dependent


def stops(op: tf.Operation) -> bool:
    """Says whether the gradient of `op` is known to be zero."""
    try:
        return gradient_function(op) is None
    except LookupError:
        return False


def _differentiated(
    op: tf.Operation, arrived: list[tf.Tensor | None]
) -> list[Gradient | None]:
    """Returns the gradients of what `op` takes, of those of what it gives."""
    gradients = [
        tf_compat.zeros_like(output)
        if gradient is None and is_trainable(output.dtype)
        else gradient
        for gradient, output in zip(arrived, op.outputs, strict=True)
    ]
    try:
        function = gradient_function(op)
        assert function is not None
        with tf_compat.named(f"{op.name}_grad"):  # A profile shows it.
            results = function(op, *gradients)
        results = list(results) if isinstance(results, list | tuple) else [results]
        _check_shapes(op, results)
    except (LookupError, NotImplementedError, TypeError, ValueError) as error:
        raise CannotBatchError(
            tf_compat.origin_of(op),
            f"it cannot be differentiated: {error}. If it should not be, put "
            "tf.stop_gradient around it; or use the dataflow executor.",
        ) from error
    return results


def _check_shapes(op: tf.Operation, gradients: list[Gradient | None]) -> None:
    for tensor, gradient in zip(op.inputs, gradients, strict=True):
        if tensor.dtype == tf.resource or gradient is None:
            continue
        if not gradient.shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"its gradient function returns shape {gradient.shape} for an input of "
                f"shape {tensor.shape}"
            )


def _collected(gradients: list[Gradient], like: tf.Tensor) -> list[Gradient]:
    slices = [g for g in gradients if isinstance(g, tf.IndexedSlices)]
    dense = dense_sum([g for g in gradients if isinstance(g, tf.Tensor)], like)
    return slices if dense is None else [dense, *slices]


def dense_sum(gradients: Sequence[Gradient], like: tf.Tensor) -> tf.Tensor | None:
    """Returns the sum of gradients of `like` as one tensor; None if there are none."""
    parts = [_dense(gradient, like) for gradient in gradients]
    # As in TensorFlow: one pass over memory, however many there are.
    return tf.add_n(parts) if parts else None


def _dense(gradient: Gradient, like: tf.Tensor) -> tf.Tensor:
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    return sum_by_segment(gradient.values, gradient.indices, like.shape[0])
