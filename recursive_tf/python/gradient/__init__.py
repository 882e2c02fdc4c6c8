"""Gradients: gradient procedures that mirror the forward ones, made recursively."""

from recursive_tf.python.gradient.ports import want_dense_gradients
from recursive_tf.python.gradient.registration import register

__all__ = ["register", "want_dense_gradients"]
