"""A vectorized block together with its gradient, in one graph."""

import dataclasses

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.differentiate.reverse_mode import (
    Gradient,
    add_gradients,
    dense_sum,
)
from recursive_tf.python.batching.graphs.draft import Draft, Drafted
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorize.any_number import ForNumber
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock
from recursive_tf.python.program.trainable import is_trainable


@dataclasses.dataclass(frozen=True)
class JointGraph:
    """The graph, simplified, as drafts, with primes for counts.

    Attributes:
        name: Of the block.
        drafts: All, in order.
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

    name: str
    drafts: list[Draft]
    primes: list[int]
    rows: list[Drafted]
    invariants: list[Drafted]
    outputs: list[Drafted]
    cotangents: dict[int, Drafted]
    input_gradients: dict[int, Drafted]
    invariant_gradients: list[tuple[int, list[Drafted]]]
    effects: list[Draft]


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
    num_rows = _num_row_inputs(block)
    drafts = simplifier.drafts_of
    return JointGraph(
        graph.name,
        simplifier.drafts,
        block.primes,
        drafts(graph.inputs[:num_rows]),
        drafts(graph.inputs[num_rows:]),
        drafts(graph.outputs),
        dict(zip(ys, drafts(dys), strict=True)),
        dict(zip(of_inputs, drafts([*of_inputs.values()]), strict=True)),
        [(index, drafts(parts)) for index, parts in of_invariants],
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
