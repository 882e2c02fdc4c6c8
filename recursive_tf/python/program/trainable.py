"""Which values have gradients."""

import tensorflow as tf


def is_trainable(dtype: tf.DType) -> bool:
    """Says whether values of a type have gradients."""
    return bool(dtype.is_floating or dtype.is_complex)
