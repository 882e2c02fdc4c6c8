"""Trees of what is typed: brackets, or plain sentences."""

import pathlib
import re
import tempfile
from collections.abc import Sequence
from typing import Any

import recursive_tf as rtf
from recursive_tf.data import Forest

# As words stand in a treebank: "don't" is two of them, a comma is one.
_WORDS = re.compile(r"n't\b|'(?:s|re|ve|ll|d|m)\b|\w+?(?=n't\b)|\w+|[^\w\s]")


def trees_of(inputs: Sequence[str]) -> tuple[Forest, int]:
    """Returns the trees of some lines, and how many of these were plain sentences.

    Args:
        inputs: Each a tree in brackets, as the Stanford Sentiment Treebank has them,
            or a sentence, whose words are joined in a balanced tree.

    Raises:
        rtf.data.ReadError: If brackets are no tree.
    """
    inputs = [line for line in inputs if line.strip()]
    found = [
        _bracketed(line) if line.lstrip().startswith("(") else _balanced(line)
        for line in inputs
    ]
    sentences = sum(not line.lstrip().startswith("(") for line in inputs)
    return rtf.data.concat(found), sentences


def _bracketed(line: str) -> Forest:
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "input"
        file.write_text(line.strip() + "\n", encoding="utf-8")
        tree = rtf.data.read_sst(file).load()
    return tree.replace(labels=None)


def _balanced(sentence: str) -> Forest:
    words = split_words(sentence)
    nested: Any = _join(words)
    return rtf.data.from_nested([nested], binary=True)


def split_words(sentence: str) -> list[str]:
    """Returns the words of a sentence, and its marks, which are words too."""
    return _WORDS.findall(sentence)


def _join(words: Sequence[str]) -> Any:
    if len(words) == 1:
        return words[0]
    middle = len(words) // 2
    return [_join(words[:middle]), _join(words[middle:])]
