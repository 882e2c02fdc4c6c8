"""Ops that have no rule, for a reason that needs to be told."""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python.batching.operand import Operand
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.rules.table import register_vectorization
from recursive_tf.python.batching.vectorised_block import VectorisedBlock

_SEEDED = (
    *("StatelessMultinomial", "StatelessParameterizedTruncatedNormal"),
    *("StatelessRandomBinomial", "StatelessRandomGammaV2", "StatelessRandomGammaV3"),
    *("StatelessRandomGetKeyCounter", "StatelessRandomNormal"),
    *("StatelessRandomNormalV2", "StatelessRandomPoisson", "StatelessRandomUniform"),
    *("StatelessRandomUniformFullInt", "StatelessRandomUniformFullIntV2"),
    *("StatelessRandomUniformInt", "StatelessRandomUniformIntV2"),
    *("StatelessRandomUniformV2", "StatelessShuffle", "StatelessTruncatedNormal"),
    "StatelessTruncatedNormalV2",
)


@register_vectorization(*_SEEDED)
def seeded(
    block: VectorisedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """TensorFlow's kernels take one seed."""
    del block, inputs
    raise CannotBatchError(
        op,
        "activations may differ in its seed, or in what it draws. Draw for all of them "
        "outside of the SubGraph and look it up, or use the dataflow executor.",
    )


@register_vectorization("StringFormat")
def formatted(
    block: VectorisedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """It makes one text of all that it gets."""
    del block, inputs
    raise CannotBatchError(
        op,
        "it makes one text for each activation, e.g. for tf.print. Take it out of the "
        "SubGraph, or use the dataflow executor.",
    )
