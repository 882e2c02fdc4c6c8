"""How ops are vectorized: a table of rules, and TensorFlow's for the long tail."""

from recursive_tf.python.batching.vectorize.rules import (
    calls,
    checks,
    gathers,
    item_by_item,
    kinds,
    list_makers,
    lists,
    networks,
    over_items,
    products,
    random,
    refused,
    segments,
    shapes,
    slices,
    sparse,
)
from recursive_tf.python.batching.vectorize.rules.table import (
    register_vectorization,
    rule_of,
    state_of_rules,
)

__all__ = [
    "calls",
    "checks",
    "gathers",
    "item_by_item",
    "kinds",
    "list_makers",
    "lists",
    "networks",
    "over_items",
    "products",
    "random",
    "refused",
    "register_vectorization",
    "rule_of",
    "segments",
    "shapes",
    "slices",
    "sparse",
    "state_of_rules",
]
