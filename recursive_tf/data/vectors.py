"""Vectors of words from a text file, as GloVe has them."""

from __future__ import annotations

import dataclasses
import os
import pathlib

import numpy as np
import tensorflow as tf

from recursive_tf.data.readers.source import RawLine, ReadError, paths_of, raw_lines

# Of the vectors of words that have none, as in Tai et al. (2015).
RANGE = 0.05
HEADER_FIELDS = 2


@dataclasses.dataclass(frozen=True)
class Vectors:
    """A vector for each number that a vocabulary gives.

    Attributes:
        matrix: float32[vocabulary size, dimension]: for `Embedding(weights=[matrix])`.
        missing: The words that the file does not have, which have random vectors.
        coverage: The share of words that it has.
    """

    matrix: np.ndarray
    missing: list[str]
    coverage: float


def load_vectors(
    path: str | os.PathLike[str],
    vocabulary: tf.keras.layers.StringLookup,
    *,
    lower: bool = False,
    seed: int = 0,
) -> Vectors:
    """Reads the vectors of the words of a vocabulary, and prints how many are there.

    A word without a vector in the file gets a random one, uniform from -0.05 to 0.05.
    The number 0, which means "no word", gets zeros. Words of the file that are not in
    the vocabulary are skipped.

    Args:
        path: Of a text file, plain or gzip: a word and its numbers a line, with spaces
            between; a first line with two numbers, as of word2vec, is left out.
        vocabulary: From `rtf.data.vocabulary`.
        lower: Whether a word that is not there is looked up in lower case.
        seed: Of the random vectors.

    Raises:
        ReadError: If there is no such file, or a line is not a word and numbers, as
            many as in the first line.
    """
    [file] = paths_of(path)
    words = vocabulary.get_vocabulary()
    wanted = {*words, *(word.lower() for word in words if lower)} - {""}
    found, dimension = _parse(file, wanted)
    matrix = np.random.default_rng(seed).uniform(-RANGE, RANGE, [len(words), dimension])
    missing = []
    for number, word in enumerate(words):
        vector = found.get(word, found.get(word.lower()) if lower else None)
        if word == "":
            matrix[number] = 0
        elif vector is not None:
            matrix[number] = vector
        elif word != vocabulary.oov_token:
            missing.append(str(word))
    num_words = len(set(words) - {"", vocabulary.oov_token})
    coverage = 1 - len(missing) / max(1, num_words)
    print(  # noqa: T201 (what it is called for)
        f"{file}: vectors of {num_words - len(missing)} of {num_words} words "
        f"({coverage:.1%})"
    )
    return Vectors(matrix.astype(np.float32), missing, coverage)


def _parse(path: pathlib.Path, wanted: set[str]) -> tuple[dict[str, np.ndarray], int]:
    """Returns the vectors of the words that are wanted, and their length."""
    found: dict[str, np.ndarray] = {}
    dimension = 0
    for line in raw_lines(path):
        if not dimension:
            dimension = _dimension(line)
            if not dimension:
                continue
        # From the right: some words have spaces in them.
        name, *numbers = line.data.rstrip().rsplit(b" ", dimension)
        word = name.decode(errors="replace")
        if len(numbers) != dimension:
            raise ReadError(
                path, line.number, 0, f"expected a word and {dimension} numbers."
            )
        if word in wanted and word not in found:
            found[word] = _vector(path, line, numbers)
    if not dimension:
        raise ReadError(path, 0, 0, "there is no vector. Expected 'word 0.1 -0.2 ...'.")
    return found, dimension


def _dimension(line: RawLine) -> int:
    """Returns how many numbers follow the word; 0 if this is a header or blank."""
    fields = line.data.split()
    is_header = len(fields) == HEADER_FIELDS and all(map(bytes.isdigit, fields))
    return 0 if is_header or not fields else len(fields) - 1


def _vector(path: pathlib.Path, line: RawLine, numbers: list[bytes]) -> np.ndarray:
    try:
        return np.array([float(number) for number in numbers], np.float32)
    except ValueError as error:
        raise ReadError(path, line.number, 0, f"{error}: no vector.") from None
