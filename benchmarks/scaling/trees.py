"""The trees that are trained on: of a treebank, or as long as its sentences."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.treelstm_model import Size, random_trees, read_trees
from recursive_tf.data import Forest

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

    These are batches of `rtf.data.batches`; here it is known before how many nodes they
    have.
    """
    order = np.arange(batch * steps) % len(forest)
    order = np.random.default_rng(0).permutation(len(forest))[order]
    nodes = forest.sizes.numpy()[order].reshape(steps, batch).sum(1)
    return Plan(rtf.data.batches(forest[order], batch), nodes)
