"""Shapes of binary trees over words: how a number of words is split in two."""

import random
from collections.abc import Callable, Sequence
from typing import Any, Literal

from recursive_tf.data.errors import ForestError
from recursive_tf.data.tree import Tree

Shape = Literal["balanced", "moderate", "linear", "random"]
# Returns where a number of words, at least 2, is split: after the first one or later.
Split = Callable[[int, random.Random], int]
SPLITS: dict[str, Split] = {
    "balanced": lambda words, rng: words // 2,
    # Each part has at least a quarter of the words.
    "moderate": lambda words, rng: rng.randint(-(-words // 4), words - -(-words // 4)),
    "linear": lambda words, rng: 1,
    "random": lambda words, rng: rng.randrange(1, words),
}


def split_of(shape: str) -> Split:
    """Returns how a shape splits.

    Raises:
        ForestError: If there is no such shape.
    """
    if shape not in SPLITS:
        raise ForestError(f"There is no shape {shape!r}. Expected one of {[*SPLITS]}.")
    return SPLITS[shape]


def shaped_tree(words: Sequence[Any], split: Split, rng: random.Random) -> Tree:
    """Returns a tree over words. Parts are split from the top, in a loop."""
    spans = [(0, len(words))]
    parts: list[tuple[int, int] | None] = []
    for start, end in spans:  # Grows meanwhile.
        if end - start == 1:
            parts.append(None)
        else:
            middle = start + split(end - start, rng)
            parts.append((len(spans), len(spans) + 1))
            spans += [(start, middle), (middle, end)]
    tree = Tree()
    last = len(parts) - 1  # The parts of a node come after it; nodes before theirs.
    for (start, _), pair in zip(reversed(spans), reversed(parts), strict=True):
        if pair is None:
            tree.add(words[start], ())
        else:
            tree.add(None, [last - pair[0], last - pair[1]])
    return tree
