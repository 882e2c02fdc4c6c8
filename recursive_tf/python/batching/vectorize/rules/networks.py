"""Rules of ops of neural networks, and of others that take more than a kind's rule."""

import math
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules.kinds import merged, of_examples
from recursive_tf.python.batching.vectorize.rules.table import (
    by_vectorized_map,
    register_vectorization,
)
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock


@register_vectorization("Select")
def select(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The condition of the older op is of the first dimensions."""
    del op
    condition, *values = inputs
    ones = [1] * (values[0].rank - condition.rank)
    flags = block.reshaped(block.all_rows(condition), [*condition.shape, *ones])
    return [tf.where(flags, *map(block.tensor, values))]


@register_vectorization("ClipByValue")
def clip(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Bounds broadcast."""
    del op
    values, low, high = (block.aligned(operand, inputs[0].rank) for operand in inputs)
    return [tf.maximum(tf.minimum(values, high), low)]


@register_vectorization("OneHot")
def one_hot(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Along the same axis of each row; as in TensorFlow, without a gradient."""
    axis = op.get_attr("axis") % (inputs[0].rank + 1) + 1
    depth = block.shared(op, 1, inputs)
    indices, on, off = inputs[0], *inputs[2:]
    if not (on.is_row or off.is_row):
        return [
            tf.one_hot(indices.tensor, depth, block.tensor(on), block.tensor(off), axis)
        ]
    is_on = tf.one_hot(block.all_rows(indices), depth, True, False, axis)
    rank = indices.rank + 1
    values = [tf.stop_gradient(block.aligned(value, rank)) for value in (on, off)]
    return [tf.where(is_on, *values)]


@register_vectorization("BiasAdd")
def bias_add(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """A bias of each row is no bias to TensorFlow, but a sum."""
    values, bias = inputs
    channels_last = op.get_attr("data_format") == b"NHWC"
    if channels_last and not bias.is_row:
        return block.add_like(op, [values.tensor, block.tensor(bias)])
    shape = [1] * values.rank
    shape[-1 if channels_last else 1] = bias.shape[0]
    added = block.reshaped(block.all_rows(bias), shape)
    return [block.aligned(values, values.rank) + added]


@register_vectorization("L2Loss")
def l2_loss(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Half the sum of squares."""
    del op
    size = math.prod(inputs[0].shape)
    squares = tf.square(block.reshaped(inputs[0].tensor, [size]))
    return [tf.reduce_sum(squares, 1) / 2]


@register_vectorization("SoftmaxCrossEntropyWithLogits")
def cross_entropy(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The examples of all rows are examples; one may be for all of its row."""
    shape = list(np.broadcast_shapes(*(operand.shape for operand in inputs)))
    examples = [
        Operand(block.all_rows(operand, shape), is_row=True) for operand in inputs
    ]
    results = block.add_like(op, [merged(block, operand) for operand in examples])
    return [
        block.reshaped(result, output.shape.as_list())
        for result, output in zip(results, op.outputs, strict=True)
    ]


@register_vectorization("FusedBatchNormV3")
def batch_norm(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """For inference, a factor and a summand of each channel."""
    values, scale, offset, mean, variance = inputs
    reads_statistics = any(output.consumers() for output in op.outputs[1:])
    same_dtype = values.tensor.dtype == scale.tensor.dtype
    if op.get_attr("is_training") or reads_statistics or not same_dtype:
        return by_vectorized_map(block, op, inputs)
    for index in range(1, len(inputs)):
        block.shared(op, index, inputs)
    epsilon = op.get_attr("epsilon")
    shape = [1] * values.rank
    shape[1 if op.get_attr("data_format") == b"NCHW" else -1] = scale.shape[0]
    factor = block.once(
        lambda s, v: tf.reshape(s * tf.math.rsqrt(v + epsilon), shape), scale, variance
    )
    summand = block.once(
        lambda o, m, f: tf.reshape(o, shape) - tf.reshape(m, shape) * f,
        *(offset, mean, factor),
    )
    result = block.tensor(values) * block.tensor(factor) + block.tensor(summand)
    return [result] * len(op.outputs)


@register_vectorization(
    "Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput"
)
def transposed_convolution(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The examples of all rows are examples."""
    shape = op.outputs[0].shape.as_list()
    sizes = tf.constant([block.num_rows * shape[0], *shape[1:]], tf.int32)
    filters, examples = block.shared(op, 1, inputs), merged(block, inputs[2])
    (result,) = block.add_like(op, [sizes, filters, examples])
    return [block.reshaped(result, shape)]


@register_vectorization("ReverseSequence")
def reverse_sequence(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The examples of all rows are examples, if these are in front."""
    if op.get_attr("batch_dim"):
        raise CannotBatchError(op, "its batch_axis is not 0. Transpose its input.")
    return of_examples(block, op, inputs)


@register_vectorization("Diag")
def diagonal(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """A matrix of each row, as many axes as it then may have."""
    flat = block.reshaped(inputs[0].tensor, [math.prod(inputs[0].shape)])
    return [block.reshaped(tf.linalg.diag(flat), op.outputs[0].shape.as_list())]


@register_vectorization("DiagPart")
def diagonal_part(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The same the other way."""
    shape = op.outputs[0].shape.as_list()
    matrices = block.reshaped(inputs[0].tensor, [math.prod(shape)] * 2)
    return [block.reshaped(tf.linalg.diag_part(matrices), shape)]
