"""What gradient functions get: the gradients of outputs."""

from typing import Any

import tensorflow as tf


def is_zero(gradient: Any, output: tf.Tensor) -> bool:
    """Says whether an output has no gradient; TensorFlow hands in zeros then."""
    if not isinstance(gradient, tf.Tensor):
        return gradient is None
    op = gradient.op
    return bool(op.type == "ZerosLike" and op.inputs[0] is output)
