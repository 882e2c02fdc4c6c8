"""Chinese sentences as lattices of characters and words, or random lattices."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.ed_batch.workload import Batch
from benchmarks.works.lattices import VOCABULARY


def batches(folder: pathlib.Path | None, size: int, count: int) -> Sequence[Batch]:
    """Returns batches of lattices."""
    forest = read(folder, size * count)
    return [(forest[i * size : (i + 1) * size],) for i in range(count)]


def read(folder: pathlib.Path | None, count: int) -> rtf.data.Forest:
    """Returns the first lattices of a folder of data, or random ones.

    Children stand before their parents.
    """
    if folder is None:
        rng = np.random.default_rng(0)
        return rtf.data.concat([_random(rng) for _ in range(count)])
    return rtf.data.read_lattices(folder / "lattice" / "train.txt").load()[:count]


def _random(rng: np.random.Generator) -> rtf.data.Forest:
    """Returns a lattice: a position after each character, and words between them."""
    count = int(rng.integers(5, 40))
    begins = rng.integers(count - 1, size=count // 2)
    ends = np.minimum(begins + rng.integers(2, 5, size=len(begins)), count)
    words = sorted(set(zip(ends.tolist(), begins.tolist(), strict=True)))
    children: list[list[int]] = [[]]
    is_word, positions = [0], [0]
    for position in range(1, count + 1):
        first = len(children)
        children += [[positions[begin]] for end, begin in words if end == position]
        is_word += [1] * (len(children) - first)
        children.append([positions[-1], *range(first, len(children))])
        is_word.append(0)
        positions.append(len(children) - 1)
    return rtf.data.Forest(
        tokens=rng.integers(1000, size=len(children)),
        children=children,
        roots=positions[-1:],
        sizes=[len(children)],
        features={"is_word": is_word},
    )


class LatticeModel(keras.layers.Layer):
    """A cell over lattices; the state of the last position is the output."""

    def __init__(self, cell: Any, units: int, **choices: Any) -> None:
        super().__init__()
        embeddings = [keras.layers.Embedding(VOCABULARY, units) for _ in range(2)]
        self.inputs = rtf.layers.LatticeInputs(*embeddings)
        self.encoder = rtf.layers.TreeEncoder(cell, dag=True, **choices)

    def call(self, lattices: rtf.data.Forest) -> tf.Tensor:
        """Returns the states of last positions."""
        return self.encoder(lattices, self.inputs(lattices))
