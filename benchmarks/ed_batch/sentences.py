"""Sentences of words with characters: WikiNER's, or random ones."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import tensorflow as tf

from benchmarks.ed_batch.workload import Batch
from benchmarks.works import texts
from benchmarks.works.texts import CHARACTERS, Texts


def batches_of_words(
    folder: pathlib.Path | None, size: int, count: int
) -> Sequence[Batch]:
    """Returns batches of sentences, each of them [sentences, (words)]."""
    return _batches(folder, size, count, words_of)


def batches_of_characters(
    folder: pathlib.Path | None, size: int, count: int
) -> Sequence[Batch]:
    """Returns batches of sentences, each of them [sentences, (words), (characters)]."""
    return _batches(folder, size, count, characters_of)


def _batches(
    folder: pathlib.Path | None,
    size: int,
    count: int,
    ragged: Callable[[texts.Batch], tf.RaggedTensor],
) -> Sequence[Batch]:
    whole = read(folder, size * count)
    numbers = np.arange(len(whole))
    parts = (numbers[i * size : (i + 1) * size] for i in range(count))
    return [(ragged(whole.batch(part)),) for part in parts]


def words_of(batch: texts.Batch) -> tf.RaggedTensor:
    """Returns the numbers of words, [sentences, (words)]."""
    return _ragged(batch.words, batch.sizes)


def characters_of(batch: texts.Batch) -> tf.RaggedTensor:
    """Returns those of characters, [sentences, (words), (characters)]."""
    return _ragged(batch.characters, batch.sizes, batch.lengths)


def _ragged(values: np.ndarray, *sizes: np.ndarray) -> tf.RaggedTensor:
    """Returns values in rows; to let TensorFlow check sizes would take 0.6 ms."""
    splits = [np.append(0, np.cumsum(each)).astype(np.int32) for each in sizes]
    return tf.RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def read(folder: pathlib.Path | None, count: int) -> Texts:
    """Returns the first sentences of a folder of data, or random ones."""
    if folder is None:
        return Texts.of(_random(count))
    path = folder / "wikiner" / "train.txt"
    with path.open(encoding="utf-8") as lines:
        filled = (line.split() for line in lines if line.strip())
        return Texts.of(
            [
                [_characters(word.rpartition("|")[0]) for word in words]
                for words, _ in zip(filled, range(count), strict=False)
            ]
        )


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
