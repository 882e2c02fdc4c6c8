"""Gradients of TensorFlow's own functions that use only what their op takes.

`tf.custom_gradient` makes a gradient of a function of Python, which holds tensors of
the graph that it was traced in. In general nobody knows what such a function does. But
those of TensorFlow's functions are known. They can be said by a name, and made anew for
a copy of the op. So two ops can be compared, and a copy holds nothing of the first one.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import ops

# The attribute that names the gradient of an op, other than the rest of its type.
OWN_GRADIENT = "_gradient_op_type"


class KnownGradient:
    """The gradient of an op of `tf.custom_gradient`, as a function of its inputs.

    Attributes:
        kind: Names what it computes.
        op: The op. Its inputs are the results of the function, then its arguments.
    """

    def __init__(self, kind: str, op: tf.Operation) -> None:
        self.kind = kind
        self.op = op

    def __call__(self, _: tf.Operation | None, *gradients: Any) -> Any:
        """Returns a gradient for each input of the op."""
        return _KINDS[self.kind](self.op.inputs, gradients)


def kind_of_gradient(op: tf.Operation) -> str | None:
    """Returns what is known of the gradient that `op` has of its own, or None."""
    name = op.node_def.attr[OWN_GRADIENT].s.decode()
    gradient = getattr(op.graph, "own_gradients", {}).get(name)
    if gradient is None:
        try:
            gradient = ops.gradient_registry.lookup(name)
        except LookupError:
            return None
    if isinstance(gradient, KnownGradient):
        return gradient.kind
    return _OF_TENSORFLOW.get(_name_of_users_function(gradient))


def _name_of_users_function(gradient: Any) -> str:
    """Returns the name of the function that computes what an op's gradient returns."""
    for name in ("tape_grad_fn", "grad_fn"):
        gradient = _free_variables(gradient).get(name)
    module = getattr(gradient, "__module__", "")
    return f"{module}.{getattr(gradient, '__qualname__', '')}"


def _free_variables(function: Any) -> dict[str, Any]:
    if not inspect.isfunction(function):
        return {}
    cells = function.__closure__ or ()
    names = function.__code__.co_freevars
    return {name: cell.cell_contents for name, cell in zip(names, cells, strict=True)}


def _gradient_of_silu(
    inputs: Sequence[tf.Tensor], gradients: Sequence[tf.Tensor]
) -> list[tf.Tensor | None]:
    """Returns the gradients of y = x sigmoid(beta x), as TensorFlow computes them."""
    _, x, beta = inputs
    dy, *_ = gradients
    with tf.control_dependencies([dy]):  # Computed anew, so that it is not kept.
        share = tf.sigmoid(beta * x)
    by_x = share * (1.0 + (beta * x) * (1.0 - share))
    by_beta = tf.reduce_sum(dy * tf.square(x) * share * (1.0 - share))
    return [None, dy * by_x, by_beta]


_KINDS: dict[str, Callable[..., list[tf.Tensor | None]]] = {"silu": _gradient_of_silu}
# What the functions of TensorFlow that have these gradients are called.
_OF_TENSORFLOW = {
    "tensorflow.python.ops.nn_impl.swish.<locals>.swish_impl.<locals>.grad": "silu"
}
