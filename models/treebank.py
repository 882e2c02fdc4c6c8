"""Reads trees in the bracketed form of the Stanford Sentiment Treebank.

One tree a line, a label at every node (Socher et al., 2013):

    (3 (2 A) (3 (3 lovely) (2 film)))
"""

import pathlib
import re

from models.trees import Tree

EXPECTED = "a tree is '(label word)' or '(label tree tree)'"
# ASCII: words such as "8 1/2" hold a no-break space.
_PIECE = re.compile(r"[()]|[^\s()]+", re.ASCII)


class TreebankError(ValueError):
    """A treebank that is not there, or not in the bracketed form."""


def read_trees(path: pathlib.Path) -> list[Tree]:
    """Returns the trees of a file, leaving out blank lines.

    Raises:
        TreebankError: If there is no such file, or no tree in it, or a line is not a
            tree; with the file, the line and what was expected.
    """
    if not path.is_file():
        raise TreebankError(
            f"{path} does not exist. Expected a text file with one tree a line, "
            "e.g. '(3 (2 A) (3 (3 lovely) (2 film)))'."
        )
    trees = []
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                trees += [parse_tree(line)] if line.strip() else []
            except TreebankError as error:
                raise TreebankError(f"{path}, line {number}: {error}") from None
    if not trees:
        raise TreebankError(f"{path} is empty. Expected one tree a line.")
    return trees


def parse_tree(text: str) -> Tree:
    """Returns the tree that one line stands for.

    >>> parse_tree("(3 (2 A) (4 marvel))").words
    ['A', 'marvel', '']

    Raises:
        TreebankError: If the line is not exactly one tree.
    """
    parser = _Parser(text)
    while parser.has_more():
        parser.step()
    return parser.finish()


class _Parser:
    """One pass from left to right; a stack, so that depth is no limit.

    Invariant: `_open` holds, for each bracket not closed yet, its label and what
    has been read inside: numbers of child nodes and words.
    """

    def __init__(self, text: str) -> None:
        self._pieces = _PIECE.findall(text)
        self._next = 0
        self._tree = Tree()
        self._open: list[tuple[int, list[int | str]]] = []
        self._num_roots = 0

    def has_more(self) -> bool:
        return self._next < len(self._pieces)

    def step(self) -> None:
        """Reads a bracket (with the label, if it opens) or a word."""
        piece = self._take()
        if self._num_roots:
            raise TreebankError(f"{piece!r} after the end of the tree; {EXPECTED}.")
        if piece == "(":
            self._open.append((self._take_label(), []))
        elif not self._open:
            raise TreebankError(f"{piece!r} outside of all brackets; {EXPECTED}.")
        elif piece == ")":
            self._close()
        else:
            self._open[-1][1].append(piece)

    def finish(self) -> Tree:
        if not self._num_roots:
            raise TreebankError(
                f"{len(self._open)} brackets are still open at the end; {EXPECTED}."
            )
        return self._tree

    def _take(self) -> str:
        self._next += 1
        return self._pieces[self._next - 1]

    def _take_label(self) -> int:
        piece = self._take() if self.has_more() else "the end of the line"
        if not piece.isdecimal():
            raise TreebankError(f"{piece!r} where a label belongs; {EXPECTED}.")
        return int(piece)

    def _close(self) -> None:
        label, content = self._open.pop()
        match content:
            case [str(word)]:
                node = self._tree.add_leaf(word, label)
            case [int(left), int(right)]:
                node = self._tree.add_internal(left, right, label)
            case _:
                raise TreebankError(
                    f"a node with label {label} and {len(content)} parts; {EXPECTED}."
                )
        if self._open:
            self._open[-1][1].append(node)
        else:
            self._num_roots += 1
