"""Words as integers."""

import pathlib
from collections.abc import Iterable

import numpy as np

from models.trees import Forest, Tree

UNKNOWN = "<unknown>"
UNKNOWN_TOKEN = 0


class Vocabulary:
    """The words of the training trees, numbered; all others are `UNKNOWN`.

    Invariant: the numbers depend only on the order of the trees.
    """

    def __init__(self, trees: Iterable[Tree]) -> None:
        words = (word for tree in trees for word in tree.words if word)
        self._words = [UNKNOWN, *dict.fromkeys(words)]
        self._tokens = {word: token for token, word in enumerate(self._words)}

    def __len__(self) -> int:
        return len(self._words)

    def encode(self, tree: Tree) -> Forest:
        """Returns the tree as a forest of one, in NumPy arrays."""
        tokens = [self._tokens.get(word, UNKNOWN_TOKEN) for word in tree.words]
        root = len(tokens) - 1
        columns = (tokens, tree.left, tree.right, tree.labels, [root])
        return Forest(*(np.array(column, np.int32) for column in columns))

    def save(self, path: pathlib.Path) -> None:
        """Writes one word a line, so that line numbers from 0 are tokens."""
        path.write_text("".join(f"{word}\n" for word in self._words), encoding="utf-8")
