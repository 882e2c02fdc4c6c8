"""A vectorized block together with its gradient, in one graph."""

import dataclasses
from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.differentiate.reverse_mode import (
    Gradient,
    add_gradients,
    dense_sum,
)
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorize.any_number import ForNumber
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock
from recursive_tf.python.program.trainable import is_trainable
from recursive_tf.python.tf_compat import FuncGraph


@dataclasses.dataclass(frozen=True)
class JointGraph:
    """The graph, simplified, with primes for counts.

    Attributes:
        graph: That.
        primes: What stands for counts: of rows, and of items.
        rows: What the block takes of other launches.
        invariants: What else it takes.
        outputs: Of the block.
        cotangents: The gradients of outputs, by the output's index.
        input_gradients: By the input's index.
        invariant_gradients: The index of an invariant, with its gradient if that is
            dense, or with values and indices. An invariant may be there repeatedly:
            what is there adds up.
        effects: Of the block, e.g. its assertions.
    """

    graph: FuncGraph
    primes: list[int]
    rows: list[tf.Tensor]
    invariants: list[tf.Tensor]
    outputs: list[tf.Tensor]
    cotangents: dict[int, tf.Tensor]
    input_gradients: dict[int, tf.Tensor]
    invariant_gradients: list[tuple[int, list[tf.Tensor]]]
    effects: list[tf.Operation]


def differentiate(vectorized: ForNumber) -> JointGraph:
    """Adds its gradient to a block and to what that was simplified to: the joint graph.

    Args:
        vectorized: The block.
    """
    block, simplifier = vectorized.rows, vectorized.simplifier
    graph = block.graph
    num_inputs = len(graph.inputs)
    ys = {i: y for i, y in enumerate(graph.outputs) if is_trainable(y.dtype)}
    dys = [tf_compat.placeholder_like(graph, y) for y in ys.values()]
    of_inputs, of_invariants = _gradients(block, list(ys.values()), dys)
    simplifier.extend(
        [*graph.inputs[num_inputs:], *dys],  # Gradients may take more invariants.
        [
            *graph.outputs,
            *of_inputs.values(),
            *(tensor for _, parts in of_invariants for tensor in parts),
        ],
    )
    simplifier.finish()

    def copies(tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        return [simplifier.copy_of(tensor) for tensor in tensors]

    num_rows = _num_row_inputs(block)
    return JointGraph(
        simplifier.graph,
        block.primes,
        copies(graph.inputs[:num_rows]),
        copies(graph.inputs[num_rows:]),
        copies(graph.outputs),
        dict(zip(ys, copies(dys), strict=True)),
        dict(zip(of_inputs, copies([*of_inputs.values()]), strict=True)),
        [(index, copies(parts)) for index, parts in of_invariants],
        simplifier.effects,
    )


def _num_row_inputs(block: VectorizedBlock) -> int:
    return len(block.graph.inputs) - len(block.invariants)


def _gradients(
    block: VectorizedBlock, ys: list[tf.Tensor], dys: list[tf.Tensor]
) -> tuple[dict[int, tf.Tensor], list[tuple[int, list[tf.Tensor]]]]:
    """Returns the gradients of the block's inputs, and those of its invariants."""
    inputs = block.graph.inputs
    xs = {
        index: x
        for index, x in enumerate(inputs)
        if is_trainable(x.dtype) or x.dtype == tf.resource
    }
    found = add_gradients(block.graph, ys, dys, list(xs.values()))
    first = _num_row_inputs(block)
    of_inputs, of_invariants = {}, []
    for index, gradients in zip(xs, found, strict=True):
        if index < first:
            with block.graph.as_default():
                total = dense_sum(gradients, inputs[index])
            if total is not None:
                of_inputs[index] = total
            continue
        for gradient in gradients:
            parts = _parts(block, inputs[index], gradient)
            of_invariants.append((index - first, parts))
    return of_inputs, of_invariants


def _parts(
    block: VectorizedBlock, invariant: tf.Tensor, gradient: Gradient
) -> list[tf.Tensor]:
    """Returns the tensors that a gradient of an invariant consists of.

    Raises:
        CannotBatchError: If a dense gradient is not a sum over rows.
    """
    if isinstance(gradient, tf.IndexedSlices):
        return [gradient.values, gradient.indices]
    is_handle = invariant.dtype == tf.resource
    if not (is_handle or gradient.shape.is_compatible_with(invariant.shape)):
        raise CannotBatchError(
            gradient.op,
            f"the gradient of a shared value has shape {gradient.shape}, but the value "
            f"has shape {invariant.shape}.",
        )
    return [gradient]
