"""Gradients that ops have, and those of one graph within another."""

import weakref
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.core.framework.attr_value_pb2 import AttrValue
from tensorflow.python.framework import ops
from tensorflow.python.framework.func_graph import FuncGraph
from tensorflow.python.framework.ops import RegisterGradient
from tensorflow.python.ops import gradients_util

from recursive_tf.python.tf_compat.attributes import set_attr
from recursive_tf.python.tf_compat.known_gradients import (
    OWN_GRADIENT,
    KnownGradient,
    kind_of_gradient,
)

# What `tf.custom_gradient` begins its names with.
_PREFIX_OF_CUSTOM = "CustomGradient-"


def set_gradient(op: tf.Operation, name: str) -> None:
    """Makes the gradient registered as `name` that of `op`.

    An attribute would do it too, but what has it is differentiated when it is saved.
    """
    op._gradient_function = ops.gradient_registry.lookup(name)


def set_gradient_function(op: tf.Operation, function: Callable[..., Any]) -> None:
    """Makes `function` the gradient of `op`, as long as there is this object."""
    op._gradient_function = function


def custom_gradient_of(op: tf.Operation) -> Callable[..., Any] | None:
    """Returns the gradient that `op`, other than the rest of its type, has."""
    name = op.node_def.attr[OWN_GRADIENT].s.decode()
    try:
        gradient: Callable[..., Any] = ops.gradient_registry.lookup(name)
    except LookupError:
        return None
    return gradient


def has_custom_gradient(op: tf.Operation) -> bool:
    """Says whether `op` is meant to have another gradient than the rest of its type."""
    return OWN_GRADIENT in op.node_def.attr


def gradient_function(op: tf.Operation) -> Callable[..., Any] | None:
    """Returns what differentiates `op`, or None if its gradient is zero.

    Raises:
        LookupError: If nothing does.
    """
    function: Callable[..., Any] | None = ops.get_gradient_function(op)
    return function


def set_custom_gradient(op: tf.Operation, gradient: Callable[..., Any]) -> None:
    """Gives `op` a gradient of its own, which is saved with it."""
    name = f"RecursiveCustomGradient-{ops.uid()}"
    _register_for(op.graph, name, gradient)
    set_attr(op, OWN_GRADIENT, AttrValue(s=name.encode()))


def keep_known_gradient(op: tf.Operation, source: tf.Operation) -> bool:
    """Gives `op` the gradient of what it copies if it is a known one; says whether.

    It holds nothing of `source`.
    """
    kind = kind_of_gradient(source)
    if kind is not None:
        set_custom_gradient(op, KnownGradient(kind, op))
    return kind is not None


def own_custom_gradient(op: tf.Operation) -> None:
    """Makes the custom gradient of `op` one that dies with the graph of `op`.

    One that was registered under a name of the user's, which other ops may have, stays.
    """
    name = op.node_def.attr[OWN_GRADIENT].s.decode()
    is_named = not name.startswith(_PREFIX_OF_CUSTOM)
    if is_named or name in getattr(op.graph, "own_gradients", {}):
        return
    gradient = ops.gradient_registry.lookup(name)
    _forget_gradient(name)
    _register_for(op.graph, name, gradient)


def _register_for(graph: tf.Graph, name: str, gradient: Callable[..., Any]) -> None:
    """Registers `gradient` as long as there is `graph`.

    TensorFlow looks gradients up by name in a table that lives as long as the process.
    What `gradient` holds is as large as a program, so it belongs to the graph.
    """
    reference = weakref.ref(graph)

    def find(op: tf.Operation | None, *gradients: Any) -> Any:
        owner = reference()
        if owner is None:
            raise LookupError(f"The graph that has the gradient '{name}' is gone.")
        return owner.own_gradients[name](op, *gradients)

    if not hasattr(graph, "own_gradients"):
        graph.own_gradients = {}
    graph.own_gradients[name] = gradient
    RegisterGradient(name)(find)
    weakref.finalize(graph, _forget_gradient, name).atexit = False


def _forget_gradient(name: str) -> None:
    ops.gradient_registry._registry.pop(name, None)


def map_gradients(function: Callable[[tf.Tensor], tf.Tensor], gradients: Any) -> Any:
    """Applies `function` to the tensors of what a gradient function returned."""
    return tf.nest.map_structure(
        lambda g: function(g) if isinstance(g, tf.Tensor) else g,
        gradients,
        expand_composites=True,
    )


def gradients_between(
    ys: list[tf.Tensor],
    xs: list[tf.Tensor],
    dys: list[tf.Tensor],
    source: FuncGraph,
) -> list[Any]:
    """Adds the gradient of `ys` by `xs`, which are in `source`, to the default graph.

    Returns:
        For each of `xs` a tensor, an `IndexedSlices`, or None if `ys` do not
        depend on it.
    """
    return list(gradients_util._GradientsHelper(ys, xs, grad_ys=dys, src_graph=source))
