"""Fixed-LSTM: a language model over sequences of 64 words."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from benchmarks.cavs.program import VOCABULARY, Batch, Program, parts_of
from benchmarks.cavs.sequences import Lstm, subgraph, vertex

STEPS = 64


def batches(folder: pathlib.Path | None, size: int, count: int) -> Sequence[Batch]:
    """Returns batches of random words: [size, STEPS]."""
    del folder  # What the words are does not matter.
    words = np.random.default_rng(0).integers(VOCABULARY, size=[size * count, STEPS])
    return parts_of(tf.constant(words, tf.int32), size)


PROGRAM = Program("Fixed-LSTM", Lstm, vertex, subgraph, batches)
