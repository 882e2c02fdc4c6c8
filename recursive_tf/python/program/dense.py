"""Gradients as tensors: after a lookup TensorFlow has them as `tf.IndexedSlices`."""

from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat


def dense(gradient: tf.Tensor | tf.IndexedSlices, tensor: tf.Tensor) -> tf.Tensor:
    """Returns the gradient of a tensor, or of a variable by its handle, as a tensor."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    found = tf.convert_to_tensor(gradient)
    shape_like(found, tensor)
    return found


def dense_or_zeros(gradient: Any, tensor: tf.Tensor) -> tf.Tensor:
    """Returns the same, and zeros where there is no gradient."""
    return tf.zeros_like(tensor) if gradient is None else dense(gradient, tensor)


def shape_like(gradient: tf.Tensor, tensor: tf.Tensor) -> None:
    """Tells the shape of the gradient of a tensor, or of a variable by its handle."""
    spec = tensor
    if tensor.dtype == tf.resource:
        spec = tf_compat.spec_of_variable(tensor)
    if spec is not None:
        gradient.set_shape(spec.shape)
