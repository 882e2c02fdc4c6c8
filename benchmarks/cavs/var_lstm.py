"""Var-LSTM: the same over sentences of any lengths."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from benchmarks.cavs.program import VOCABULARY, Batch, Program, parts_of
from benchmarks.cavs.sequences import Lstm, subgraph, vertex

# Of sentences, in words; 21 on average, as in the Penn Treebank.
LENGTHS = range(3, 40)


def batches(folder: pathlib.Path | None, size: int, count: int) -> Sequence[Batch]:
    """Returns batches of random words: [size, (words)]."""
    del folder  # What the words are does not matter.
    random = np.random.default_rng(0)
    lengths = random.choice(LENGTHS, size * count)
    words = random.integers(VOCABULARY, size=lengths.sum())
    sentences = tf.RaggedTensor.from_row_lengths(words.astype(np.int32), lengths)
    return parts_of(sentences, size)


PROGRAM = Program("Var-LSTM", Lstm, vertex, subgraph, batches)
