"""Words as integers, by Keras' StringLookup."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from recursive_tf.data.errors import ForestError
from recursive_tf.data.forest import Forest

# What a StringLookup gives for no word and for a word that it does not know.
NO_WORD, UNKNOWN = 0, 1
NO_LABEL = -1


def vocabulary(
    trees: Forest | Iterable[Forest],
    array: str = "tokens",
    *,
    max_size: int | None = None,
    min_count: int = 1,
) -> tf.keras.layers.StringLookup:
    """Returns a layer that numbers the words of some trees.

    The number 0 is the empty word, which nodes without a token have. The number 1 is
    any unknown word. Known words follow, the most frequent first. Equally frequent
    words are in the order of their bytes.

    >>> from recursive_tf.data import from_nested
    >>> trees = from_nested([["so", ["so", "good"]]])
    >>> encode(trees, tokens=vocabulary(trees)).tokens.numpy()
    array([2, 2, 3, 0, 0], dtype=int32)

    Args:
        trees: A forest or a dataset of forests, with strings.
        array: `"tokens"`, `"labels"`, or the name of a feature.
        max_size: The most rows that an embedding of these words may need.
        min_count: Words that are rarer are not known.

    Raises:
        ForestError: If the array is not there or not of strings, or has no such word.
    """
    words = [word for word, n in _counts(trees, array) if n >= min_count]
    if max_size is not None:
        words = words[: max(0, max_size - 2)]
    if not words:
        raise ForestError(
            f"There is no word for a vocabulary: of {array!r}, none is there "
            f"{min_count} times, or max_size={max_size} leaves none."
        )
    return tf.keras.layers.StringLookup(vocabulary=words, mask_token="")


def label_vocabulary(
    trees: Forest | Iterable[Forest], array: str = "labels"
) -> tf.keras.layers.StringLookup:
    """Returns a layer that numbers the labels of some trees from 0, by frequency.

    Args:
        trees: A forest or a dataset of forests, with strings.
        array: `"labels"`, `"tokens"`, or the name of a feature.

    Raises:
        ForestError: If the array is not there or not of strings.
    """
    labels = [label for label, _ in _counts(trees, array)]
    return tf.keras.layers.StringLookup(
        vocabulary=labels, num_oov_indices=0, mask_token=None
    )


def encode(
    forest: Forest,
    *,
    tokens: tf.keras.layers.StringLookup | None = None,
    labels: tf.keras.layers.StringLookup | None = None,
) -> Forest:
    """Returns a forest with integers, int32, for words or for labels.

    In `dataset.map` and in a `tf.function` too.

    Args:
        forest: A tree or a batch.
        tokens: From `vocabulary`.
        labels: From `label_vocabulary`. Nodes without a label get -1; one that it does
            not know is an `InvalidArgumentError`.

    Raises:
        ForestError: If tokens or labels that are to be encoded are no strings.
    """
    given = {"tokens": tokens, "labels": labels}
    for array in (name for name, words in given.items() if words is not None):
        what = _other_than_strings(getattr(forest, array))
        if what:
            raise ForestError(
                f"encode(..., {array}=) takes {array} that are strings, and the forest "
                f"has {what}: perhaps it is encoded already."
            )
    changes = {}
    if tokens is not None:
        changes["tokens"] = tf.cast(tokens(forest.tokens), tf.int32)
    if labels is not None:
        is_given = forest.labels != ""
        any_label = labels.get_vocabulary()[0]
        numbers = labels(tf.where(is_given, forest.labels, any_label))
        changes["labels"] = tf.where(is_given, tf.cast(numbers, tf.int32), NO_LABEL)
    return forest.replace(**changes)


def _counts(trees: Forest | Iterable[Forest], array: str) -> list[tuple[str, int]]:
    """Returns words and how often they are there, the most frequent first."""
    counts: Counter[bytes] = Counter()
    for forest in [trees] if isinstance(trees, Forest) else trees:
        words, numbers = np.unique(_strings(forest, array), return_counts=True)
        counts.update(dict(zip(words.tolist(), numbers.tolist(), strict=True)))
    counts.pop(b"", None)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(word.decode(errors="replace"), n) for word, n in ordered]


def _strings(forest: Forest, array: str) -> np.ndarray:
    arrays = {"tokens": forest.tokens, "labels": forest.labels, **forest.features}
    found: Any = arrays.get(array)
    what = _other_than_strings(found)
    if what:
        raise ForestError(f"A vocabulary is made of strings; {array!r} is {what}.")
    strings: np.ndarray = found.numpy()
    return strings


def _other_than_strings(array: tf.Tensor | None) -> str:
    """Says what an array is in place of strings; nothing, if it is strings."""
    if array is None:
        return "no such array"
    return "" if array.dtype == tf.string else f"{array.dtype.name}s"
