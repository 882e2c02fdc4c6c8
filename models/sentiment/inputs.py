"""Trees of what is typed: brackets, or plain sentences."""

import pathlib
import tempfile
from collections.abc import Sequence

import recursive_tf as rtf
from recursive_tf.data import Forest, ReadError, split_words

INPUT = pathlib.Path("input")


def trees_of(inputs: Sequence[str]) -> tuple[Forest, int]:
    """Returns the trees of some lines, and how many of these were plain sentences.

    Args:
        inputs: Each a tree in brackets, as the Stanford Sentiment Treebank has them,
            or a sentence, whose words are joined in a balanced tree.

    Raises:
        rtf.data.ReadError: If brackets are no tree.
    """
    given = [(n, line) for n, line in enumerate(inputs, start=1) if line.strip()]
    found = [
        _bracketed(number, line) if _is_tree(line) else _balanced(number, line)
        for number, line in given
    ]
    sentences = sum(not _is_tree(line) for _, line in given)
    return rtf.data.concat(found), sentences


def _is_tree(line: str) -> bool:
    return line.lstrip().startswith("(")


def _bracketed(number: int, line: str) -> Forest:
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "input"
        # Names of files may be no text, and so may what is typed. Lines before it, so
        # that an error names its own.
        lines = "\n" * (number - 1) + line.strip()
        file.write_bytes(lines.encode(errors="surrogateescape"))
        try:
            tree = rtf.data.read_sst(file).load()
        except ReadError as error:
            text = str(error).partition(": ")[2]
            raise ReadError(INPUT, error.line, error.column, text) from None
    return tree.replace(labels=None)


def _balanced(number: int, sentence: str) -> Forest:
    words = split_words(sentence)
    try:
        sentence.encode()
    except UnicodeEncodeError as error:
        text = f"the sentence is no text: {error}."
        raise ReadError(INPUT, number, error.start + 1, text) from None
    return rtf.data.from_words([words], "balanced")
