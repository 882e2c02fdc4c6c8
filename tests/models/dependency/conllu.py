"""Dependency trees as text, in the CoNLL-U format that `rtf.data.read_conllu` reads."""

import itertools
from collections.abc import Iterator

import numpy as np

from models.dependency.edges import NONE, heads_of
from recursive_tf.data import Forest


def to_conllu(forest: Forest) -> str:
    """Returns a batch as text: words and heads; relations are "root" and "dep".

    Args:
        forest: Words as strings, nodes in the order of the sentence.
    """
    words = [word.decode() for word in forest.tokens.numpy()]
    heads = heads_of(forest).numpy()
    splits = forest.row_splits.numpy()
    lines: list[str] = []
    for start, end in itertools.pairwise(splits):
        own = np.where(heads[start:end] == NONE, 0, heads[start:end] - start + 1)
        lines += [*_lines(words[start:end], own.tolist()), ""]
    return "".join(f"{line}\n" for line in lines)


def _lines(words: list[str], heads: list[int]) -> Iterator[str]:
    for number, (word, head) in enumerate(zip(words, heads, strict=True), start=1):
        relation = "dep" if head else "root"
        fields = (number, word, "_", "_", "_", "_", head, relation, "_", "_")
        yield "\t".join(map(str, fields))
