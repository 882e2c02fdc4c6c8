"""Lattices of characters and words, coded as integers (ED-Batch, Chen et al., 2023).

A number of lattices, then for each its length, a tag for each position, and a line for
each position with the words that end there: how many, and of each where it begins and
which it is. The first one is the character between the position and the one before.

    1
    3
    0 7 9
    0
    1 0 62
    2 1 480 0 3395
"""

import dataclasses
from collections.abc import Iterable, Iterator

import tensorflow as tf

from recursive_tf.data.columns import Columns
from recursive_tf.data.readers.reader import Files, OnError, TreeReader
from recursive_tf.data.readers.source import (
    Chunk,
    Line,
    MalformedError,
    RawLine,
    each_block,
    integer,
)
from recursive_tf.data.tree import Tree

POSITION, WORD = 0, 1
COLUMNS = Columns(tf.int32, tf.int32, {"is_word": tf.int32}, binary=False)


def read_lattices(
    files: Files, *, on_error: OnError = "raise", encoding: str = "utf-8"
) -> TreeReader:
    """Returns a reader of lattices: graphs whose nodes share children.

    A node is a position between characters, or a word of several characters. The
    children of a position are the position before it and then the words that end at it;
    the child of a word is the position where it begins. The root is the last position.
    A program on it should share invocations: `rtf.SubGraph(memo=...)`.

    Tokens are int32: of a position the character before it, -1 at the first one; of a
    word itself. Labels are int32: the tag of a position, -1 at words. The feature
    `is_word` is 1 at words.

    Its arguments are those of `TreeReader`.
    """
    return TreeReader(files, _Lattices(), on_error, encoding)


@dataclasses.dataclass(frozen=True)
class _Lattices:
    """The format."""

    columns: Columns = COLUMNS
    expected: str = (
        "a length, that many tags, and that many lines of words: their number, and of "
        "each where it begins and its integer, the first one from the position before"
    )

    def chunks(self, lines: Iterable[RawLine]) -> Iterator[Chunk]:
        """Cuts at blank lines, after the number of lattices in the first line."""
        remaining = iter(lines)
        next((line for line in remaining if not line.is_blank), None)
        return each_block(remaining)

    def parse(self, lines: list[Line]) -> Tree:
        rows = [_integers(line) for line in lines]
        length = rows[0][0]
        if len(rows[0]) != 1 or len(rows) != length + 2:
            raise MalformedError(
                lines[0].number, 1, f"{len(rows) - 2} positions of {length}"
            )
        if len(rows[1]) != length:
            raise MalformedError(lines[1].number, 1, f"{len(rows[1])} tags of {length}")
        tree = Tree(features={"is_word": []})
        positions: list[int] = []
        for line, words, tag in zip(lines[2:], rows[2:], rows[1], strict=True):
            ends = _words_that_end(line, words, len(positions))
            positions.append(_add_position(tree, positions, ends, tag))
        return tree


def _integers(line: Line) -> list[int]:
    numbers = []
    column = 1
    for piece in line.text.split(" "):
        number = integer(piece)
        if number is not None:
            numbers.append(number)
        elif piece:
            raise MalformedError(line.number, column, f"{piece!r:.40} is no integer")
        column += len(piece) + 1
    return numbers


def _words_that_end(line: Line, row: list[int], position: int) -> list[tuple[int, int]]:
    """Returns where each word begins and which it is."""
    if not row or len(row) != 1 + 2 * row[0]:
        raise MalformedError(line.number, 1, f"{row[:1]} words in {len(row)} numbers")
    words = list(zip(row[1::2], row[2::2], strict=True))
    begins = [begin for begin, _ in words]
    if begins[:1] != ([position - 1] if position else []) or any(
        begin >= position for begin in begins
    ):
        raise MalformedError(
            line.number, 1, f"words that begin at {begins} and end at {position}"
        )
    return words


def _add_position(
    tree: Tree, positions: list[int], words: list[tuple[int, int]], tag: int
) -> int:
    if not words:
        tree.features["is_word"].append(POSITION)
        return tree.add(None, (), tag)
    (before, character), *longer = words
    children = [positions[before]]
    for begin, word in longer:
        tree.features["is_word"].append(WORD)
        children.append(tree.add(word, [positions[begin]]))
    tree.features["is_word"].append(POSITION)
    return tree.add(character, children, tag)
