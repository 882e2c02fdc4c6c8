"""What a model is trained on and tested with, from files or generated."""

import pathlib
from typing import NamedTuple

import numpy as np
import tensorflow as tf

import recursive_tf as rtf
from models.generated import generate_expressions
from recursive_tf.data import Forest


class Dataset(NamedTuple):
    """Two splits, with words as integers.

    Attributes:
        train: The trees to learn from.
        held_out: The trees to be measured on.
        vocabulary: The words of `train`.
        num_classes: One more than the largest label.
    """

    train: Forest
    held_out: Forest
    vocabulary: tf.keras.layers.StringLookup
    num_classes: int

    def majority(self) -> float:
        """Returns the share of held-out roots that have the most common label."""
        labels = tf.gather(self.held_out.labels, self.held_out.roots)
        return float(np.bincount(labels).max() / len(self.held_out))


def read_dataset(folder: pathlib.Path, limit: int | None = None) -> Dataset:
    """Reads `train.txt` and `dev.txt`, of each the first `limit` trees."""
    splits = [
        rtf.data.read_sst(folder / name).load()[:limit]
        for name in ("train.txt", "dev.txt")
    ]
    return _dataset(*splits)


def generate_dataset(seed: int, limit: int | None = None) -> Dataset:
    """Generates expressions; every held-out tree is deeper than all to learn from."""
    train = generate_expressions(3000, depths=range(1, 4), seed=seed)
    held_out = generate_expressions(500, depths=range(4, 7), seed=seed + 1)
    return _dataset(train[:limit], held_out[:limit])


def _dataset(train: Forest, held_out: Forest) -> Dataset:
    vocabulary = rtf.data.vocabulary(train)
    return Dataset(
        rtf.data.encode(train, tokens=vocabulary),
        rtf.data.encode(held_out, tokens=vocabulary),
        vocabulary,
        1 + max(int(tf.reduce_max(split.labels)) for split in (train, held_out)),
    )
