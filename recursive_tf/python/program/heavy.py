"""Which ops are worth a launch: products, beside which others take no time."""

import tensorflow as tf

_HEAVY = ("BatchMatMul", "Conv", "DepthwiseConv", "Einsum", "MatMul")


def is_heavy(op: tf.Operation) -> bool:
    """Says whether an op is a product of more than numbers."""
    return bool(op.type.startswith(_HEAVY))
