"""Sentences as trees: those of the Stanford Sentiment Treebank, or random ones."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import keras

import recursive_tf as rtf
from benchmarks.ed_batch.workload import Batch

VOCABULARY = 20_000


def batches(folder: pathlib.Path | None, size: int, count: int) -> Sequence[Batch]:
    """Returns batches of trees, whose nodes have labels."""
    if folder is None:
        forest = rtf.data.generate("random", size * count, words=range(3, 38))
    else:
        trees = rtf.data.read_sst(folder / "sst" / "train.txt").load()
        words = rtf.data.vocabulary(trees)
        forest = rtf.data.encode(trees[: size * count], tokens=words)
    return [(forest[i * size : (i + 1) * size],) for i in range(count)]


def encoder(cell: Any, units: int, **choices: Any) -> rtf.layers.TreeEncoder:
    """Returns what runs a cell over trees of words."""
    words = keras.layers.Embedding(VOCABULARY, units)
    return rtf.layers.TreeEncoder(cell, words, **choices)
