"""How ops are vectorised: a table of rules, and TensorFlow's for the long tail."""

from recursive_tf.python.batching.rules import gathers, products, shapes
from recursive_tf.python.batching.rules.table import register_vectorization, rule_of

__all__ = ["gathers", "products", "register_vectorization", "rule_of", "shapes"]
