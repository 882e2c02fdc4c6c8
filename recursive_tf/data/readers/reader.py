"""Reads the trees of files, whatever their format."""

import hashlib
import logging
import os
import pathlib
from collections.abc import Iterable, Iterator
from typing import Any, Literal, Protocol

import tensorflow as tf

from recursive_tf.data.building import forest_of
from recursive_tf.data.columns import Columns
from recursive_tf.data.errors import ForestError
from recursive_tf.data.forest import Forest
from recursive_tf.data.joining import concat
from recursive_tf.data.readers import cache as caches
from recursive_tf.data.readers.source import (
    Chunk,
    DamagedError,
    Line,
    MalformedError,
    RawLine,
    ReadError,
    check_encoding,
    decode,
    paths_of,
    raw_lines,
    unreadable,
)
from recursive_tf.data.spec import forest_spec
from recursive_tf.data.tree import Tree

Files = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
OnError = Literal["raise", "skip"]
# Trees that become one forest at a time: enough that Python's cost for each is small.
TREES_AT_ONCE = 256
LOG = logging.getLogger("recursive_tf.data")


class Format(Protocol):
    """How trees stand in a text. Its `repr` says all that parsing depends on."""

    @property
    def expected(self) -> str:
        """What a file has, for errors."""

    @property
    def columns(self) -> Columns:
        """What each tree has at its nodes."""

    def chunks(self, lines: Iterable[RawLine]) -> Iterator[Chunk]:
        """Cuts a text into trees; what is in them is not looked at."""

    def parse(self, lines: list[Line]) -> Tree:
        """Returns a tree.

        Raises:
            MalformedError: If the lines are none.
        """


class TreeReader:
    """The trees of some files.

    A pass over them is made whenever it is asked for, by `load` or by a dataset; it
    needs no more memory than a few hundred trees do.

    Attributes:
        skipped: What was wrong with the trees that the last pass left out, as
            `ReadError`s; only with `on_error="skip"`.
    """

    def __init__(
        self, files: Files, format_: Format, on_error: OnError, encoding: str
    ) -> None:
        """Takes note of what to read; nothing is read yet.

        Args:
            files: A path or several, of plain text or gzip.
            format_: How trees stand in them.
            on_error: `"skip"` leaves out what is no tree, and reports how many these
                were; of a compressed file that is damaged it takes the trees before the
                damage. `"raise"` is an error at the first one.
            encoding: Of the text: one that extends ASCII.

        Raises:
            ReadError: If a file is not there.
            ForestError: If there is no such encoding, or no file.
            ValueError: If `on_error` is another word.
        """
        if on_error not in ("raise", "skip"):
            raise ValueError(f'on_error must be "raise" or "skip". Got {on_error!r}.')
        check_encoding(encoding)
        self._paths = paths_of(files)
        self._format = format_
        self._on_error = on_error
        self._encoding = encoding
        self.skipped: list[ReadError] = []

    def dataset(self) -> tf.data.Dataset:
        """Returns a dataset of trees, each a `Forest` of shape `[]`, in order.

        It reads while it is iterated over. `dataset.batch(25)` has forests of 25.

        Raises:
            ReadError: From the dataset, as an `InvalidArgumentError` with its text.
        """
        batches = tf.data.Dataset.from_generator(
            self._forests, output_signature=self._spec
        )
        return batches.unbatch()

    def load(self, cache: str | os.PathLike[str] | None = None) -> Forest:
        """Returns all trees as one batch in memory.

        Args:
            cache: A folder. What was parsed is kept there, and taken from there as
                long as the files are what they were, by path, size and time. A cache
                that is damaged is made anew; one that cannot be written is a warning.

        Raises:
            ReadError: If a file has no tree, or something in it is none.
        """
        if cache is None:
            return self._parse()
        path = pathlib.Path(cache) / f"{self._fingerprint()}.forest"
        return caches.load_or_parse(path, self._spec, self._parse)

    def _parse(self) -> Forest:
        forests = list(self._forests())
        if not forests:
            text = f"there is no tree. Expected {self._expected}."
            if self.skipped:
                text = "there is no tree, once what is wrong is left out; the first: "
                text += str(self.skipped[0])
            raise ReadError(self._paths[0], 0, 0, text)
        return concat(forests)

    @property
    def _spec(self) -> Any:
        columns = self._format.columns
        return forest_spec(
            columns.tokens,
            labels=columns.labels,
            features=columns.features,
            binary=columns.binary,
        )

    @property
    def _expected(self) -> str:
        return self._format.expected

    def _fingerprint(self) -> str:
        files = [_fingerprint_of(path) for path in self._paths]
        format_ = (caches.VERSION, repr(self._format))
        settings = (*format_, self._on_error, self._encoding)
        return hashlib.sha256(repr((files, settings)).encode()).hexdigest()[:16]

    def _forests(self) -> Iterator[Forest]:
        """Yields batches; those before an error first, so that order is kept."""
        some: list[Tree] = []
        error: ReadError | None = None
        try:
            for tree in self._trees():
                some.append(tree)
                if len(some) == TREES_AT_ONCE:
                    yield forest_of(some, self._format.columns)
                    some = []
        except ReadError as found:
            error = found
        if some:
            yield forest_of(some, self._format.columns)
        if error is not None:
            raise error

    def _trees(self) -> Iterator[Tree]:
        self.skipped = []
        num_trees = 0
        for path in self._paths:
            for tree in self._trees_of(path):
                num_trees += 1
                yield tree
        if self.skipped:
            self._report(num_trees)

    def _report(self, num_trees: int) -> None:
        """Says what was left out; how much a damaged file still had is not known."""
        lost = sum(isinstance(error, DamagedError) for error in self.skipped)
        wrong = len(self.skipped) - lost
        LOG.warning(
            "%d of %d trees are left out%s; the first: %s",
            wrong,
            wrong + num_trees,
            f", and the rest of damaged files ({lost})" if lost else "",
            self.skipped[0],
        )

    def _trees_of(self, path: pathlib.Path) -> Iterator[Tree]:
        try:
            for chunk in self._format.chunks(raw_lines(path)):
                try:
                    yield self._tree_of(chunk)
                except (MalformedError, ForestError) as error:
                    line = getattr(error, "line", chunk[0].number)
                    column = getattr(error, "column", 0)
                    self._fail(ReadError(path, line, column, self._explain(error)))
        except DamagedError as error:
            self._fail(error)

    def _tree_of(self, chunk: Chunk) -> Tree:
        tree = self._format.parse(decode(chunk, self._encoding))
        self._format.columns.check(tree)
        return tree

    def _explain(self, error: Exception) -> str:
        return f"{str(error).rstrip('.')}. Expected {self._expected}."

    def _fail(self, error: ReadError) -> None:
        if self._on_error == "raise":
            raise error from None
        self.skipped.append(error)


def _fingerprint_of(path: pathlib.Path) -> tuple[str, int, int]:
    try:
        stat = path.stat()
    except OSError as error:
        raise unreadable(path, error) from None
    return str(path.resolve()), stat.st_size, stat.st_mtime_ns
