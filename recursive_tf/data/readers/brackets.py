"""Trees in brackets: the Penn Treebank's and the Stanford Sentiment Treebank's.

    (3 (2 A) (3 (3 lovely) (2 film)))

    ( (S
        (NP (DT the) (NN dog))
        (VP (VBZ barks))))

A node is its label, and a word or nodes. A tree begins at the start of a line, and
lines that go on with it are indented.
"""

import dataclasses
import re
from collections.abc import Iterable, Iterator
from typing import Any

import tensorflow as tf

from recursive_tf.data.columns import Columns
from recursive_tf.data.constituents import add_constituent
from recursive_tf.data.readers.reader import Files, OnError, TreeReader
from recursive_tf.data.readers.source import (
    Chunk,
    Line,
    MalformedError,
    RawLine,
    each_paragraph,
    integer,
)
from recursive_tf.data.tree import Tree

# ASCII: words such as "8 1/2" hold a no-break space.
_PIECE = re.compile(r"[()]|[^\s()]+", re.ASCII)


def read_sst(
    files: Files, *, on_error: OnError = "raise", encoding: str = "utf-8"
) -> TreeReader:
    """Returns a reader of the Stanford Sentiment Treebank (Socher et al., 2013).

    Binary trees with an integer label at every node: tokens are strings, `""` inside;
    labels are int32.

    Its arguments are those of `TreeReader`.
    """
    columns = Columns(tf.string, tf.int32, {}, binary=True)
    return TreeReader(files, _Brackets(columns), on_error, encoding)


def read_ptb(
    files: Files, *, on_error: OnError = "raise", encoding: str = "utf-8"
) -> TreeReader:
    """Returns a reader of trees as in the Penn Treebank (Marcus et al., 1993).

    Nodes have any number of children. Tokens are strings, `""` inside; labels are
    strings, of words their parts of speech. Empty brackets around a tree are left out.

    Its arguments are those of `TreeReader`.
    """
    columns = Columns(tf.string, tf.string, {}, binary=False)
    return TreeReader(files, _Brackets(columns), on_error, encoding)


@dataclasses.dataclass(frozen=True)
class _Brackets:
    """The format, with labels that are words or numbers."""

    columns: Columns

    @property
    def expected(self) -> str:
        if self.columns.binary:
            return "a tree '(label word)' or '(label tree tree)'"
        return "a tree '(label word)' or '(label tree ...)'"

    def chunks(self, lines: Iterable[RawLine]) -> Iterator[Chunk]:
        return each_paragraph(lines)

    def parse(self, lines: list[Line]) -> Tree:
        parser = _Parser(self.columns)
        for line in lines:
            for piece in _PIECE.finditer(line.text):
                parser.take(piece.group(), line.number, piece.start() + 1)
        return parser.finish(lines[-1])


@dataclasses.dataclass
class _Open:
    """A bracket that is not closed yet: its place, label and parts so far."""

    line: int
    column: int
    label: Any = None
    parts: list[str | int] = dataclasses.field(default_factory=list)


class _Parser:
    """One pass from left to right; a stack, so that depth is no limit."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._tree = Tree()
        self._open: list[_Open] = []
        self._is_done = False
        # Whether the last piece opened a bracket, so that a label may follow.
        self._is_new = False

    def take(self, piece: str, line: int, column: int) -> None:
        """Reads a bracket, a label or a word.

        Raises:
            MalformedError: If it cannot stand there.
        """
        if self._is_done:
            raise MalformedError(
                line, column, f"{piece!r:.40} after the end of the tree"
            )
        if piece == "(":
            self._check_label(line, column)
            self._open.append(_Open(line, column))
            self._is_new = True
        elif not self._open:
            raise MalformedError(line, column, f"{piece!r:.40} outside of all brackets")
        elif piece == ")":
            self._close(self._open.pop())
        elif self._is_new:
            self._open[-1].label = self._label(piece, line, column)
            self._is_new = False
        else:
            self._open[-1].parts.append(piece)

    def finish(self, last: Line) -> Tree:
        """Returns the tree.

        Raises:
            MalformedError: If it has not ended.
        """
        if not self._is_done:
            if not self._open:
                raise MalformedError(last.number, 1, "no bracket")
            first = self._open[-1]
            raise MalformedError(
                last.number,
                len(last.text) + 1,
                f"the end of the tree with {len(self._open)} brackets open, the last "
                f"one since line {first.line}, column {first.column}",
            )
        return self._tree

    def _label(self, piece: str, line: int, column: int) -> Any:
        if self._columns.labels == tf.string:
            return piece
        label = integer(piece)
        if label is None:
            raise MalformedError(line, column, f"{piece!r:.40} where a label belongs")
        return label

    def _check_label(self, line: int, column: int) -> None:
        """Only the brackets around a tree of the Penn Treebank have no label."""
        is_outermost = len(self._open) == 1 and self._columns.labels == tf.string
        if self._is_new and not is_outermost:
            raise MalformedError(line, column, "'(' where a label belongs")

    def _close(self, node: _Open) -> None:
        self._is_new = False
        parts = node.parts
        if node.label is None and not self._open and len(parts) == 1:
            self._is_done = True  # Empty brackets around the tree.
            return
        what = f"a node with label {node.label!s:.40} and {len(parts)} parts"
        if node.label is None or not parts or not self._fits(parts):
            raise MalformedError(node.line, node.column, what)
        number = add_constituent(self._tree, node.label, parts)
        if self._open:
            self._open[-1].parts.append(number)
        else:
            self._is_done = True

    def _fits(self, parts: list[str | int]) -> bool:
        if not self._columns.binary:
            return True
        types = [type(part) for part in parts]
        return types in ([str], [int, int])
