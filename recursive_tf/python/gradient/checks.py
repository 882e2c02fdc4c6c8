"""Gradients of checks of many activations."""

import tensorflow as tf

from recursive_tf.ops import library


def gradient_of_check_numerics_rows(op: tf.Operation, gradient: tf.Tensor) -> tf.Tensor:
    """Checks the gradient too, as TensorFlow does."""
    message = tf.compat.as_str(op.get_attr("message"))
    return library.recursive_check_numerics_rows(
        tensor=gradient,
        message="Not a number (NaN) or infinity (Inf) values detected in gradient. "
        + message,
        tells_sign=op.get_attr("tells_sign"),
        has_rows=op.get_attr("has_rows"),
    )
