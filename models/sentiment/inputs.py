"""Trees of what is typed: brackets, or plain sentences."""

import pathlib
import tempfile
from collections.abc import Sequence

import recursive_tf as rtf
from models.sentiment.words import split_words
from recursive_tf.data import Forest


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
    return rtf.data.from_words([split_words(sentence)], "balanced")
