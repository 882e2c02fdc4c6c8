"""Reviews as binary trees over their words, in one of two forms.

A review a line, `label<TAB>text`:

    1	A lovely film.

or a review a file, in folders `pos` and `neg`, as the Large Movie Review data have it.
"""

import dataclasses
import random
import re
from collections.abc import Iterable, Iterator

import tensorflow as tf

from recursive_tf.data.columns import Columns
from recursive_tf.data.readers.reader import Files, OnError, TreeReader
from recursive_tf.data.readers.source import (
    Chunk,
    Line,
    MalformedError,
    RawLine,
    each_line,
)
from recursive_tf.data.shapes import Shape, shaped_tree, split_of
from recursive_tf.data.tree import Tree
from recursive_tf.data.words import split_words

LABELS = ("0", "1")
COLUMNS = Columns(tf.string, tf.int32, {}, binary=True)
_TAG = re.compile(r"<[^>]*>")


def read_reviews(
    files: Files,
    shape: Shape = "balanced",
    *,
    label: int | None = None,
    seed: int = 0,
    on_error: OnError = "raise",
    encoding: str = "utf-8",
) -> TreeReader:
    """Returns a reader of reviews (Maas et al., 2011), which come without trees.

    Their words are joined to binary trees. Tokens are strings, `""` inside; labels are
    int32: of the root 0 or 1, of other nodes -1. Tags such as `<br />` are left out.

    Args:
        files: As in `TreeReader`.
        shape: Of all trees: see `generate`.
        label: That of all reviews, one a line. Not given: each line begins with its
            label and a tab.
        seed: Of shapes that are random.
        on_error: As in `TreeReader`.
        encoding: As in `TreeReader`.

    Raises:
        ForestError: If there is no such shape.
    """
    split_of(shape)
    return TreeReader(files, _Reviews(shape, label, seed), on_error, encoding)


@dataclasses.dataclass(frozen=True)
class _Reviews:
    """The format."""

    shape: str
    label: int | None
    seed: int
    columns: Columns = COLUMNS

    @property
    def expected(self) -> str:
        return "0 or 1, a tab and a review" if self.label is None else "a review"

    def chunks(self, lines: Iterable[RawLine]) -> Iterator[Chunk]:
        return each_line(lines)

    def parse(self, lines: list[Line]) -> Tree:
        (line,) = lines
        label, text = self.label, line.text
        if label is None:
            given, tab, text = line.text.partition("\t")
            if given not in LABELS or not tab:
                raise MalformedError(line.number, 1, f"{given!r:.40} before a tab")
            label = int(given)
        words = split_words(_TAG.sub(" ", text))
        if not words:
            raise MalformedError(line.number, 1, "a review without words")
        # Of the text, so that a tree does not depend on the others.
        rng = random.Random(f"{self.seed} {text}")
        tree = shaped_tree(words, split_of(self.shape), rng)
        tree.labels[tree.root] = label
        return tree
