"""What a model is trained on and tested with, from files or generated."""

import pathlib
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from models import generated
from models.treebank import read_trees
from models.trees import Forest, Tree
from models.vocabulary import Vocabulary


class Dataset(NamedTuple):
    """Two splits, each tree a forest of one.

    Attributes:
        train: The trees to learn from.
        held_out: The trees to be measured on.
        vocabulary: The words of `train`.
        num_classes: One more than the largest label.
    """

    train: list[Forest]
    held_out: list[Forest]
    vocabulary: Vocabulary
    num_classes: int

    def majority(self) -> float:
        """Returns the share of held-out roots that have the most common label."""
        labels = Counter(int(tree.labels[-1]) for tree in self.held_out)
        return max(labels.values()) / len(self.held_out)


def read_dataset(folder: pathlib.Path, limit: int | None = None) -> Dataset:
    """Reads `train.txt` and `dev.txt`, of each the first `limit` trees."""
    splits = [read_trees(folder / name)[:limit] for name in ("train.txt", "dev.txt")]
    return _dataset(*splits)


def generate_dataset(seed: int, limit: int | None = None) -> Dataset:
    """Generates expressions; every held-out tree is deeper than all to learn from."""
    train = generated.generate_trees(3000, depths=range(1, 4), seed=seed)
    held_out = generated.generate_trees(500, depths=range(4, 7), seed=seed + 1)
    return _dataset(train[:limit], held_out[:limit])


def _dataset(train: Sequence[Tree], held_out: Sequence[Tree]) -> Dataset:
    vocabulary = Vocabulary(train)
    return Dataset(
        [vocabulary.encode(tree) for tree in train],
        [vocabulary.encode(tree) for tree in held_out],
        vocabulary,
        1 + max(max(tree.labels) for tree in [*train, *held_out]),
    )
