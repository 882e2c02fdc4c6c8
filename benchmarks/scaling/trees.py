"""The trees that are trained on: of a treebank, or as long as its sentences."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from benchmarks.treelstm_model import Size, random_trees, read_trees
from recursive_tf.data import Forest
from recursive_tf.data.batches import READ_AHEAD, untuned

# Trees of 1 to 37 words have 37 nodes on average, as those of the Stanford Sentiment
# Treebank have; its number of nodes varies about as much.
WORDS = range(1, 38)


def load(data: str | None, limit: int, size: Size) -> Forest:
    """Returns trees, in an order that says nothing of their size."""
    if data is None:
        return random_trees(limit, WORDS, size)
    return read_trees(data, limit)


def num_words(forest: Forest) -> int:
    """Returns how many rows an embedding needs."""
    return 1 + int(tf.reduce_max(forest.tokens))


class Plan(NamedTuple):
    """Batches for some steps.

    Attributes:
        dataset: Of forests.
        nodes: How many each batch has.
    """

    dataset: tf.data.Dataset
    nodes: np.ndarray


def in_turn(forest: Forest, batch: int, steps: int) -> Plan:
    """Returns batches of all trees, again from the first after the last.

    A batch is made while the last one is used, as by `rtf.data.batches`; here it is
    known before how many nodes it has.
    """
    order = np.arange(batch * steps) % len(forest)
    order = np.random.default_rng(0).permutation(len(forest))[order]
    parts = order.reshape(steps, batch)
    dataset = tf.data.Dataset.from_tensor_slices(parts.astype(np.int32))
    dataset = dataset.map(lambda trees: forest[trees]).prefetch(READ_AHEAD)
    return Plan(untuned(dataset), forest.sizes.numpy()[parts].sum(1))
