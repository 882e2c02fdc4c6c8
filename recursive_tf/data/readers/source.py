"""Lines of text files, and how they are cut into trees."""

import gzip
import os
import pathlib
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from recursive_tf.data.errors import ForestError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
GZIP = b"\x1f\x8b"
# How files begin that other programs compressed, and what makes plain text of them.
OTHERS = {
    re.compile(rb"BZh[1-9]1AY&SY"): "bzip2 -d",
    re.compile(rb"\xfd7zXZ\x00"): "xz -d",
    re.compile(rb"\x28\xb5\x2f\xfd"): "zstd -d",
    re.compile(rb"PK\x03\x04"): "unzip",
}
LONGEST_START = 10
# No dtype has integers of more digits; Python refuses to parse those of thousands.
MAX_DIGITS = 20
_PROBE = b"(0 a)\n"


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


class DamagedError(ReadError):
    """A compressed file is damaged or ends too early; lines before that were read."""


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
        ForestError: If none is given.
    """
    given = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    if not given:
        raise ForestError("There is no file: expected the path of at least one.")
    paths = [pathlib.Path(file) for file in given]
    for path in paths:
        _check_file(path)
    return paths


def _check_file(path: pathlib.Path) -> None:
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except OSError as error:  # E.g. a folder on the way that may not be entered.
        raise unreadable(path, error) from None
    if is_folder:
        raise ReadError(path, 0, 0, "it is a folder, where a file was expected.")
    if not is_file:
        raise ReadError(path, 0, 0, "there is no such file.")


def unreadable(path: pathlib.Path, error: OSError) -> ReadError:
    """Returns what says that the machine does not let a file be read."""
    return ReadError(path, 0, 0, f"it cannot be read: {error.strerror or error}.")


def raw_lines(path: pathlib.Path) -> Iterator[RawLine]:
    """Yields the lines of a file, which may be compressed with gzip.

    Raises:
        DamagedError: Where what gzip compressed is damaged, or ends too early.
        ReadError: If the file cannot be read, or is compressed in another way.
    """
    number = 0
    try:
        with _opened(path) as lines:
            for number, line in enumerate(lines, start=1):
                start = len(BYTE_ORDER_MARK) * (
                    number == 1 and line.startswith(BYTE_ORDER_MARK)
                )
                yield RawLine(number, line[start:].rstrip(b"\r\n"))
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DamagedError(
            path,
            number + 1,
            0,
            f"it cannot be read: {error}. The compressed file is damaged, or ends too "
            "early: get another copy.",
        ) from None
    except OSError as error:
        raise unreadable(path, error) from None


def _opened(path: pathlib.Path) -> Any:
    """Returns a file whose lines are bytes."""
    with open(path, "rb") as file:
        start = file.read(LONGEST_START)
    for pattern, program in OTHERS.items():
        if pattern.match(start):
            raise ReadError(
                path,
                0,
                0,
                "it is compressed, and not with gzip. Expected plain text or gzip: "
                f"unpack it with {program}.",
            )
    return gzip.open(path) if start.startswith(GZIP) else open(path, "rb")


def check_encoding(encoding: str) -> None:
    """Raises a ForestError unless text in an encoding can be read line by line."""
    try:
        is_fit = _PROBE.decode(encoding) == _PROBE.decode()
    except (LookupError, TypeError, ValueError):  # Of decode: an unknown name.
        is_fit = False
    if not is_fit:
        raise ForestError(
            f"encoding={encoding!r} cannot be read line by line. Expected the name of "
            'an encoding that Python knows and that extends ASCII, e.g. "utf-8", '
            '"latin-1" or "cp1252"; text in another one, e.g. in UTF-16, has to be '
            "converted first: iconv -t utf-8."
        )


def integer(text: str) -> int | None:
    """Returns what decimal digits stand for; None if this is no such integer."""
    return int(text) if text.isdecimal() and len(text) <= MAX_DIGITS else None


def decode(chunk: Chunk, encoding: str) -> list[Line]:
    """Returns the text of lines.

    Raises:
        MalformedError: If bytes stand for no text.
    """
    lines = []
    for number, data in chunk:
        try:
            lines.append(Line(number, data.decode(encoding)))
        except UnicodeError as error:  # Of most encodings, with the place.
            start = getattr(error, "start", 0)
            raise MalformedError(
                number,
                1 + _length(data[:start], encoding),
                f"byte 0x{data[start : start + 1].hex()} is not {encoding}. Say "
                "encoding=... if the file has another one.",
            ) from None
    return lines


def _length(data: bytes, encoding: str) -> int:
    """Returns how many characters there are, if an encoding says it of a part."""
    try:
        return len(data.decode(encoding, "replace"))
    except UnicodeError:
        return 0


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
