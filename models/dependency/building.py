"""Makes a forest of words that know their heads."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from models.dependency.edges import NONE
from recursive_tf.data import Forest


def forest_of_heads(
    words: Any, heads: Any, sizes: Any, features: Mapping[str, Any] | None = None
) -> Forest:
    """Returns a batch of dependency trees, in a `tf.function` too.

    Args:
        words: [num_nodes], in the order of the sentences.
        heads: int32[num_nodes]: the node that is each word's head; `NONE` for roots.
        sizes: int32[num_trees]: how many words each tree has.
        features: As of a `Forest`.
    """
    words, heads = tf.convert_to_tensor(words), tf.convert_to_tensor(heads, tf.int32)
    order = tf.argsort(heads, stable=True)
    is_dependent = tf.gather(heads, order) != NONE
    dependents = tf.boolean_mask(order, is_dependent)
    return Forest(
        tokens=words,
        roots=tf.cast(tf.where(heads == NONE)[:, 0], tf.int32),
        sizes=sizes,
        children=tf.RaggedTensor.from_value_rowids(
            dependents,
            tf.cast(tf.gather(heads, dependents), tf.int64),
            nrows=tf.size(words, tf.int64),
        ),
        features=features,
    )
