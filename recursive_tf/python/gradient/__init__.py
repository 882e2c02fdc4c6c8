"""Gradients: gradient procedures that mirror the forward ones, made recursively."""

from recursive_tf.python.gradient.registration import register

__all__ = ["register"]
