"""Small trees that the tests of data share."""

import numpy as np
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.data import Forest

BRANCHES = [
    ["a", ["b", "c"]],
    "d",
    [["e", "f"], ["g", ["h", "i"]]],
    ["j", "k"],
    [[[["l", "m"], "n"], "o"], "p"],
]


def forest(binary=True, nested=tuple(BRANCHES)):
    """Returns trees of 5, 1, 9, 3 and 9 nodes, with labels and features."""
    plain = rtf.data.from_nested(nested, binary=binary)
    nodes = np.arange(int(plain.num_nodes), dtype=np.int32)
    return plain.replace(
        labels=nodes % 3,
        features={
            "vector": np.stack([nodes, nodes * nodes], 1).astype(np.float32),
            "name": [f"n{node}" for node in nodes],
        },
    )


def integers(binary=True):
    """Returns the same trees with integer tokens: 1, 2, ... at leaves, 0 inside."""
    strings = forest(binary)
    is_leaf = tf.cast(strings.is_leaf, tf.int32)
    return strings.replace(tokens=tf.cumsum(is_leaf) * is_leaf)


def assert_same(actual: Forest, expected: Forest) -> None:
    """Checks that two forests have the same spec and values, nodes in one order."""
    assert tf.type_spec_from_value(actual) == tf.type_spec_from_value(expected)
    pairs = zip(
        tf.nest.flatten(actual, expand_composites=True),
        tf.nest.flatten(expected, expand_composites=True),
        strict=True,
    )
    for one, other in pairs:
        np.testing.assert_array_equal(one, other)
