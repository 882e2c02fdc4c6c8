"""The trees that are trained on: of a treebank, or as long as its sentences."""

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


def in_turn(forest: Forest, batch: int, steps: int) -> tf.data.Dataset:
    """Returns batches for some steps, which begin again after the last tree."""
    order = np.arange(batch * steps) % len(forest)
    order = np.random.default_rng(0).permutation(len(forest))[order]
    return rtf.data.batches(forest[order], batch)
