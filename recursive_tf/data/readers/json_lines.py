"""Trees as JSON: nested lists, one tree a line.

    ["a", ["b", "c"]]
    {"label": 3, "children": [{"token": "lovely", "label": 3}, "film"]}

The form is that of `recursive_tf.data.from_nested`.
"""

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from recursive_tf.data.columns import Columns
from recursive_tf.data.nested import EXPECTED, NestedError, tree_of_nested
from recursive_tf.data.readers.reader import Files, OnError, TreeReader
from recursive_tf.data.readers.source import (
    Chunk,
    Line,
    MalformedError,
    RawLine,
    each_line,
)
from recursive_tf.data.tree import Tree


def read_json(
    files: Files,
    *,
    tokens: tf.DType = tf.string,
    labels: tf.DType | None = None,
    features: Mapping[str, tf.DType] | None = None,
    binary: bool = False,
    on_error: OnError = "raise",
) -> TreeReader:
    """Returns a reader of nested lists, one a line, as `from_nested` takes them.

    Args:
        files: As of `TreeReader`.
        tokens: The dtype of tokens.
        labels: The dtype of labels; None leaves them out.
        features: Which features to read, and their dtypes; others are left out.
        binary: Whether every node has no child or two, and they are a left and a right
            one; or else a list.
        on_error: As of `TreeReader`.
    """
    columns = Columns(tokens, labels, dict(features or {}), binary)
    return TreeReader(files, _JSONLines(columns), on_error, "utf-8")


@dataclasses.dataclass(frozen=True)
class _JSONLines:
    """The format."""

    columns: Columns
    expected: str = f"a tree in JSON, one a line: {EXPECTED}"

    def chunks(self, lines: Iterable[RawLine]) -> Iterator[Chunk]:
        return each_line(lines)

    def parse(self, lines: list[Line]) -> Tree:
        [line] = lines
        parser = _Parser(line)
        value = parser.parse()
        try:
            return tree_of_nested(value)
        except NestedError as error:
            column = parser.column_of(error)
            raise MalformedError(line.number, column, str(error)) from None


_SPACE = re.compile(r"[ \t\n\r]*")
_SCALARS = json.JSONDecoder()


@dataclasses.dataclass
class _Container:
    """A list or a dictionary that is not closed yet, and the key before a value."""

    value: Any
    key: str | None = None

    @property
    def end(self) -> str:
        return "]" if isinstance(self.value, list) else "}"

    def put(self, value: Any) -> None:
        if isinstance(self.value, list):
            self.value.append(value)
        else:
            self.value[self.key] = value


class _Parser:
    """Parses JSON with a stack of its own: `json` refuses deep nesting."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._text = line.text
        self._at = 0
        self._open: list[_Container] = []
        self._places: dict[int, int] = {}

    def parse(self) -> Any:
        """Returns the value.

        Raises:
            MalformedError: If the text is not JSON.
        """
        result = self._value()
        while self._open:
            self._step()
        if self._peek():
            self._refuse("the end of the line")
        return result

    def column_of(self, error: NestedError) -> int:
        """Returns where the list or dictionary begins that is wrong, or around it."""
        places = (self._places.get(id(value)) for value in error.values)
        return 1 + next((place for place in places if place is not None), 0)

    def _step(self) -> None:
        """Goes on in the innermost container: its end, or its next value."""
        top = self._open[-1]
        if self._peek() == top.end:
            self._at += 1
            self._open.pop()
            return
        if top.value:
            self._take(",", f"',' or {top.end!r}")
        if isinstance(top.value, dict):
            top.key = self._key()
        top.put(self._value())

    def _value(self) -> Any:
        """Reads a scalar, or the beginning of a container, which is then open."""
        begin = self._peek()
        if begin in ("[", "{"):
            value: Any = [] if begin == "[" else {}
            self._places[id(value)] = self._at
            self._open.append(_Container(value))
            self._at += 1
            return value
        try:
            value, self._at = _SCALARS.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            self._at = error.pos
            self._refuse("a value")
        except ValueError:  # Python parses no integer of thousands of digits.
            self._refuse("an integer that a dtype has")
        return value

    def _key(self) -> str:
        if self._peek() != '"':
            self._refuse("a key in quotes")
        key: str = self._value()
        self._take(":", "':'")
        return key

    def _take(self, piece: str, expected: str) -> None:
        if self._peek() != piece:
            self._refuse(expected)
        self._at += 1

    def _peek(self) -> str:
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at
        return self._text[self._at : self._at + 1]

    def _refuse(self, expected: str) -> None:
        found = self._text[self._at : self._at + 10] or "the end of the line"
        raise MalformedError(
            self._line.number, self._at + 1, f"{found!r} where {expected} belongs"
        )
