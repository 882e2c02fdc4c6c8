"""Ops that have no rule, for a reason that needs to be told."""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules.table import (
    effect,
    refusing,
    register_vectorization,
)
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock

_SEEDED = (
    *("StatelessMultinomial", "StatelessParameterizedTruncatedNormal"),
    *("StatelessRandomBinomial", "StatelessRandomGammaV2", "StatelessRandomGammaV3"),
    *("StatelessRandomNormal", "StatelessRandomPoisson", "StatelessRandomUniform"),
    *("StatelessRandomUniformFullInt", "StatelessRandomUniformInt"),
    *("StatelessShuffle", "StatelessTruncatedNormal"),
)


# TensorFlow's kernels take one seed.
register_vectorization(*_SEEDED)(
    refusing(
        "activations may differ in its seed, or in what it draws. Draw for all of them "
        "outside of the SubGraph and look it up, or use the dataflow executor."
    )
)

_average = refusing(
    "Keras's BatchNormalization updates its averages, each activation after the other. "
    "Use LayerNormalization, or training=False, or the dataflow executor."
)


@register_vectorization("AssignSubVariableOp", "AssignVariableOp")
def assign(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor | Operand]:
    """Refused, as all effects; some for a better reason."""
    is_average = tf_compat.is_of_batch_normalization(op)
    return (_average if is_average else effect)(block, op, inputs)
