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

# Of both characters and words.
VOCABULARY = 60_000


def batches(folder: pathlib.Path | None, size: int, count: int) -> Sequence[Batch]:
    """Returns batches of lattices."""
    if folder is None:
        rng = np.random.default_rng(0)
        forest = rtf.data.concat([_random(rng) for _ in range(size * count)])
    else:
        forest = rtf.data.read_lattices(folder / "lattice" / "train.txt").load()
    return [(forest[i * size : (i + 1) * size],) for i in range(count)]


def _random(rng: np.random.Generator) -> rtf.data.Forest:
    """Returns a lattice: a position after each character, and words between them."""
    count = int(rng.integers(5, 40))
    begins = rng.integers(count - 1, size=count // 2)
    ends = np.minimum(begins + rng.integers(2, 5, size=len(begins)), count)
    words = sorted(set(zip(begins.tolist(), ends.tolist(), strict=True)))
    children = [[position - 1] if position else [] for position in range(count + 1)]
    for number, (begin, end) in enumerate(words):
        children[end].append(count + 1 + number)
        children.append([begin])
    num_nodes = len(children)
    return rtf.data.Forest(
        tokens=rng.integers(1000, size=num_nodes),
        children=children,
        roots=[count],
        sizes=[num_nodes],
        features={"is_word": [0] * (count + 1) + [1] * len(words)},
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
