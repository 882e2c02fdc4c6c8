"""Tells TensorFlow the gradients of the library's ops."""

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.gradient import batched, checks, inner, ports, second_order
from recursive_tf.python.gradient import root_gradient as root
from recursive_tf.python.gradient.region import (
    CONDITIONAL_GRADIENT,
    PRODUCT_GRADIENT,
    PYTHON_GRADIENT,
)

_GRADIENTS = {
    "RecursiveInvoke": root.gradient_of_invoke,
    "RecursiveInvokeBatched": batched.gradient_of_invoke_batched,
    "TracedRecursiveCall": root.refuse_gradient_inside,
    "TracedRecursiveMap": root.refuse_gradient_inside,
    "TracedRecursiveSharedCall": root.refuse_gradient_inside,
    "RecursiveCall": inner.gradient_of_call,
    "StatelessRecursiveCall": inner.gradient_of_call,
    "RecursiveMap": inner.gradient_of_map,
    "StatelessRecursiveMap": inner.gradient_of_map,
    "RecursiveSharedCall": inner.gradient_of_shared_call,
    "StatelessRecursiveSharedCall": inner.gradient_of_shared_call,
    "RecursiveCheckNumericsRows": checks.gradient_of_check_numerics_rows,
    "RecursivePorts": second_order.gradient_of_ports,
    "RecursiveTie": ports.gradient_of_tie,
    CONDITIONAL_GRADIENT: inner.gradient_of_conditional,
    PRODUCT_GRADIENT: inner.gradient_of_product,
    PYTHON_GRADIENT: inner.gradient_of_python_function,
}


# Random numbers, which what they are drawn from does not change smoothly, and what is
# no floating-point number.
_WITHOUT_GRADIENT = (
    *("RecursiveFullIntRows", "RecursiveIntRows", "RecursiveKeyRows"),
    *("RecursiveCheckedIds", "RecursiveCheckedVertices", "RecursiveFormatRows"),
    *(
        "RecursiveItems",
        "RecursiveMixKey",
        "RecursiveNormalRows",
        "RecursiveNotEmpty",
        "RecursivePack",
        "RecursiveTruncatedNormalRows",
    ),
    *("RecursiveUniformRows", "RecursiveUnpack", "RecursiveWantedIds"),
)


def register() -> None:
    """Registers all of them. TensorFlow refuses a second time."""
    for name, gradient in _GRADIENTS.items():
        tf_compat.RegisterGradient(name)(gradient)
    for name in _WITHOUT_GRADIENT:
        tf.no_gradient(name)
