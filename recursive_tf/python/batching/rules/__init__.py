"""How ops are vectorised: a table of rules, and TensorFlow's for the long tail."""

from recursive_tf.python.batching.rules import (
    calls,
    gathers,
    kinds,
    lists,
    networks,
    products,
    random,
    refused,
    shapes,
    slices,
)
from recursive_tf.python.batching.rules.table import register_vectorization, rule_of

__all__ = [
    "calls",
    "gathers",
    "kinds",
    "lists",
    "networks",
    "products",
    "random",
    "refused",
    "register_vectorization",
    "rule_of",
    "shapes",
    "slices",
]
