"""Lines of text files, and how they are cut into trees."""

import gzip
import os
import pathlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from recursive_tf.data.errors import ForestError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class ReadError(ForestError):
    """A file is not there or not as expected.

    Attributes:
        path: The file.
        line: From 1; 0 if the file as a whole is meant.
        column: From 1, in characters; 0 if the line as a whole is meant.
    """

    def __init__(self, path: pathlib.Path, line: int, column: int, text: str) -> None:
        places = [str(path)]
        places += [f"line {line}"] * (line > 0) + [f"column {column}"] * (column > 0)
        super().__init__(f"{', '.join(places)}: {text}")
        self.path = path
        self.line = line
        self.column = column


class MalformedError(Exception):
    """What is wrong in a text, and where; a reader adds the file."""

    def __init__(self, line: int, column: int, text: str) -> None:
        super().__init__(text)
        self.line = line
        self.column = column


class Line(NamedTuple):
    """A line of text without its end, and its number from 1."""

    number: int
    text: str


class RawLine(NamedTuple):
    """A line that is not decoded yet, so that one that cannot be spoils one tree."""

    number: int
    data: bytes

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing in it but ASCII space."""
        return not self.data.strip()


Chunk = list[RawLine]


def paths_of(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
) -> list[pathlib.Path]:
    """Returns the paths of files that are there.

    Raises:
        ReadError: If one is not.
    """
    given = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    paths = [pathlib.Path(file) for file in given]
    for path in paths:
        if not path.is_file():
            raise ReadError(path, 0, 0, "there is no such file.")
    return paths


def raw_lines(path: pathlib.Path) -> Iterator[RawLine]:
    """Yields the lines of a file, which may be compressed with gzip."""
    with open(path, "rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    with gzip.open(path) if is_gzip else open(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            start = len(BYTE_ORDER_MARK) * (
                number == 1 and line.startswith(BYTE_ORDER_MARK)
            )
            yield RawLine(number, line[start:].rstrip(b"\r\n"))


def decode(chunk: Chunk, encoding: str) -> list[Line]:
    """Returns the text of lines.

    Raises:
        MalformedError: If bytes stand for no text.
    """
    lines = []
    for number, data in chunk:
        try:
            lines.append(Line(number, data.decode(encoding)))
        except UnicodeDecodeError as error:
            column = 1 + len(data[: error.start].decode(encoding))
            raise MalformedError(
                number,
                column,
                f"byte {data[error.start]:#x} is not {encoding}. Say encoding=... if "
                "the file has another one.",
            ) from None
    return lines


def each_line(lines: Iterable[RawLine]) -> Iterator[Chunk]:
    """Cuts at the end of each line, and leaves out blank lines."""
    return ([line] for line in lines if not line.is_blank)


def each_block(lines: Iterable[RawLine]) -> Iterator[Chunk]:
    """Cuts at blank lines."""
    block: Chunk = []
    for line in lines:
        if not line.is_blank:
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def each_paragraph(lines: Iterable[RawLine]) -> Iterator[Chunk]:
    """Cuts before each line that is not indented; leaves out blank lines."""
    paragraph: Chunk = []
    for line in lines:
        if line.is_blank:
            continue
        if paragraph and not line.data[:1].isspace():
            yield paragraph
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield paragraph
