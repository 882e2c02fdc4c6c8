"""What a body uses of the outside: variables, and tensors that are none."""

from __future__ import annotations

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.tracing.function_graph import BodyGraph


def captured_variables(body: BodyGraph) -> tuple[tf.Variable, ...]:
    """Returns the variables that a body uses, in the order of first use."""
    variables = _by_handle(body)
    handles = (id(tensor) for tensor, _ in body.captures)
    return tuple(variables[handle] for handle in handles if handle in variables)


def captured_tensors(body: BodyGraph) -> tuple[tf.Tensor, ...]:
    """Returns the outer tensors that a body uses, in the order of first use.

    Small integers that are known are none: they become constants of the body.
    """
    variables = _by_handle(body)
    return tuple(tensor for tensor, _ in body.captures if id(tensor) not in variables)


def _by_handle(body: BodyGraph) -> dict[int, tf.Variable]:
    return {id(one.handle): one for one in tf_compat.watched_variables(body)}
