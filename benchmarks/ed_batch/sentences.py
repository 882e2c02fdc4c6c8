"""Sentences of words with characters: WikiNER's, or random ones."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Sequence

import numpy as np
import tensorflow as tf

from benchmarks.ed_batch.workload import Batch

# Of words and of characters; others have the last number.
VOCABULARY, CHARACTERS = 20_000, 256
TAGS = 9


def batches(folder: pathlib.Path | None, size: int, count: int) -> Sequence[Batch]:
    """Returns batches of sentences, each of them [sentences, (words), (characters)]."""
    if folder is None:
        texts = _random(size * count)
    else:
        texts = _read(folder / "wikiner" / "train.txt", size * count)
    ragged = tf.ragged.constant(texts, ragged_rank=2, dtype=tf.int32)
    return [(ragged[i * size : (i + 1) * size],) for i in range(count)]


def _read(path: pathlib.Path, count: int) -> list[list[list[int]]]:
    with path.open(encoding="utf-8") as lines:
        filled = (line.split() for line in lines if line.strip())
        return [
            [_characters(word.rpartition("|")[0]) for word in words]
            for words, _ in zip(filled, range(count), strict=False)
        ]


def _characters(word: Iterable[str]) -> list[int]:
    return [min(ord(character), CHARACTERS - 1) for character in word]


def _random(count: int) -> list[list[list[int]]]:
    rng = np.random.default_rng(0)
    return [
        [
            rng.integers(CHARACTERS, size=rng.integers(1, 12)).tolist()
            for _ in range(rng.integers(3, 40))
        ]
        for _ in range(count)
    ]


def words_of(characters: tf.RaggedTensor) -> tf.RaggedTensor:
    """Returns a number for each word, which its characters decide."""
    weighted = characters.flat_values * tf.pow(31, _places(characters.values) % 5)
    numbers = tf.math.segment_sum(weighted, characters.values.value_rowids())
    return characters.with_values(numbers % VOCABULARY)


def _places(words: tf.RaggedTensor) -> tf.Tensor:
    rows = tf.gather(words.row_starts(), words.value_rowids())
    return tf.range(tf.size(words.flat_values)) - tf.cast(rows, tf.int32)
