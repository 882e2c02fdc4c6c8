"""Which ops are worth a launch: products, beside which others take no time."""

import math

import tensorflow as tf

_HEAVY = ("BatchMatMul", "Conv", "DepthwiseConv", "Einsum", "MatMul")


def is_heavy(op: tf.Operation) -> bool:
    """Says whether an op is a product of more than numbers."""
    return bool(op.type.startswith(_HEAVY))


def num_multiplications(op: tf.Operation) -> float:
    """Returns how many numbers a product multiplies: infinite if that is not known."""
    if not is_heavy(op):
        return 0
    if not op.type.startswith(("BatchMatMul", "MatMul")):
        return math.inf
    left, product = op.inputs[0].shape, op.outputs[0].shape
    if not (left.is_fully_defined() and product.is_fully_defined()):
        return math.inf
    name = "transpose_a" if op.type == "MatMul" else "adj_x"
    depth = left[-2] if op.get_attr(name) else left[-1]
    return float(product.num_elements() * depth)
