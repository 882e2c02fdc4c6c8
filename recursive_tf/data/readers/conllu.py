"""Dependency trees in the CoNLL-U format of Universal Dependencies.

A word a line, ten columns with tabs between them, a blank line after each sentence:
https://universaldependencies.org/format.html
"""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import NoReturn

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

NUM_FIELDS = 10
ID, FORM, HEAD, RELATION = 0, 1, 6, 7
FEATURES = {"lemma": 2, "upos": 3, "xpos": 4, "feats": 5}
COLUMNS = Columns(
    tf.string, tf.string, dict.fromkeys(FEATURES, tf.string), binary=False
)


def read_conllu(
    files: Files, *, on_error: OnError = "raise", encoding: str = "utf-8"
) -> TreeReader:
    """Returns a reader of dependency trees (Nivre et al., 2020).

    Every word is a node, in the order of the sentence, and its children are the words
    that depend on it: any number. Tokens are word forms, and labels relations, e.g.
    `"nsubj"`. Features, all strings: `lemma`, `upos`, `xpos` and `feats`. Words that
    are several (`1-2`) and words that are not there (`1.1`) are left out.

    Its arguments are those of `TreeReader`.
    """
    return TreeReader(files, _CoNLLU(), on_error, encoding)


@dataclasses.dataclass(frozen=True)
class _CoNLLU:
    """The format."""

    columns: Columns = COLUMNS
    expected: str = (
        "words from 1, a line each of ten columns, whose HEAD columns make a tree"
    )

    def chunks(self, lines: Iterable[RawLine]) -> Iterator[Chunk]:
        return each_block(lines)

    def parse(self, lines: list[Line]) -> Tree:
        words = [_Word.of(line) for line in lines if not line.text.startswith("#")]
        words = [word for word in words if word.is_node]
        for number, word in enumerate(words, start=1):
            if word.fields[ID] != str(number):
                word.refuse(
                    ID, f"word {word.fields[ID]!r:.40} where word {number} belongs"
                )
        heads = [word.head(len(words)) for word in words]
        return _tree(words, heads, lines[0])


@dataclasses.dataclass(frozen=True)
class _Word:
    """The fields of a line."""

    line: int
    fields: list[str]

    @classmethod
    def of(cls, line: Line) -> "_Word":
        fields = line.text.split("\t")
        if len(fields) != NUM_FIELDS:
            raise MalformedError(
                line.number, len(line.text) + 1, f"{len(fields)} columns"
            )
        return cls(line.number, fields)

    @property
    def is_node(self) -> bool:
        return not {"-", "."} & set(self.fields[ID])

    def head(self, num_words: int) -> int:
        text = self.fields[HEAD]
        head = integer(text)
        if head is None or head > num_words:
            self.refuse(HEAD, f"HEAD {text!r:.40} of {num_words} words")
        return head

    def refuse(self, field: int, text: str) -> NoReturn:
        """Raises a MalformedError that points to a field."""
        column = 1 + sum(len(before) + 1 for before in self.fields[:field])
        raise MalformedError(self.line, column, text)


def _tree(words: list[_Word], heads: list[int], first: Line) -> Tree:
    roots = [number for number, head in enumerate(heads) if head == 0]
    if not roots:
        raise MalformedError(first.number, 0, "a sentence without a word of HEAD 0")
    for number in roots[1:]:
        words[number].refuse(HEAD, "a second word with HEAD 0")
    children: list[list[int]] = [[] for _ in words]
    for number, head in enumerate(heads):
        if head:
            children[head - 1].append(number)
    tree = Tree(
        [word.fields[FORM] for word in words],
        list(children),
        [word.fields[RELATION] for word in words],
        {name: [word.fields[at] for word in words] for name, at in FEATURES.items()},
        roots[0],
    )
    unreached = set(range(len(words))) - set(tree.bottom_up())
    if unreached:
        words[min(unreached)].refuse(HEAD, "a word that depends on itself in the end")
    return tree
