"""What gradient functions get: the gradients of outputs."""

from typing import Any

import tensorflow as tf


def as_dense(gradient: Any, like: tf.Tensor) -> tf.Tensor:
    """Returns a gradient as a tensor; of what has none, and of handles, zeros."""
    if like.dtype == tf.variant:
        return like
    return tf.zeros_like(like) if gradient is None else tf.convert_to_tensor(gradient)


def is_zero(gradient: Any, output: tf.Tensor) -> bool:
    """Says whether an output has no gradient; TensorFlow hands in zeros then."""
    if not isinstance(gradient, tf.Tensor):
        return gradient is None
    op = gradient.op
    return bool(op.type == "ZerosLike" and op.inputs[0] is output)
