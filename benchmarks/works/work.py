"""A work: a recursion, its trees and its weights, in a file that any system reads."""

from __future__ import annotations

import dataclasses
import importlib
import pathlib
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from benchmarks.works.lattices import Lattices
from benchmarks.works.outputs import Outputs
from benchmarks.works.texts import Texts
from benchmarks.works.trees import Trees

CLASSES = 5
# Nodes of trees or words of texts in a pass, if its batches are not larger; about 500
# sentences.
PASS_NODES = 20_000
LEAST_BATCHES = 2
MOST_BATCHES = 40
# Weights with a row for each word or character.
TABLES = ("embedding", "word_embedding")


class Kind(NamedTuple):
    """What a node of a kind computes, for counts of operations and bytes.

    Attributes:
        product: The length of the row that is multiplied, and of what comes out; None
            if nothing is.
        state: How many numbers the parent gets.
        kept: How many more numbers the gradient needs.
    """

    product: tuple[int, int] | None
    state: int
    kept: int


@dataclasses.dataclass(frozen=True)
class Recursion:
    """What is computed, for trees of any treebank. The equations are in its file.

    Attributes:
        inputs: What a batch is made of.
        name: Of its file.
        embedding: The length of a word's vector.
        hidden: The length of a node's h.
        leaf: What a leaf computes.
        internal: What another node computes.
        loss_at: Which nodes have a loss.
        batch_sizes: To measure.
    """

    inputs: ClassVar[type] = Trees

    name: str
    embedding: int
    hidden: int
    leaf: Kind
    internal: Kind
    loss_at: Literal["nodes", "roots"]
    batch_sizes: tuple[int, ...] = (1, 10, 25, 64, 256)


@dataclasses.dataclass(frozen=True)
class Work:
    """What a system is given.

    The loss of a batch of trees is the sum of the cross-entropies of its labeled nodes,
    or of its roots, divided by the number of its trees; others have that
    of `Outputs`.

    Attributes:
        recursion: What is computed.
        trees: Of which treebank; or texts or lattices, each of which stands for a tree.
        weights: What training begins with, float32, by name. "embedding" is
            [words, embedding]; of it only the rows that a batch looks up are updated.
    """

    recursion: Recursion | Outputs
    trees: Trees | Texts | Lattices
    weights: dict[str, np.ndarray]

    @property
    def name(self) -> str:
        """The name of the recursion."""
        return self.recursion.name

    def batches(self, size: int) -> list[np.ndarray]:
        """Returns the batches of a pass, each the numbers of its trees.

        They are the same for every system: the timing of one is that of whole passes.
        """
        trees = PASS_NODES / float(np.mean(self.trees.sizes))
        count = min(MOST_BATCHES, max(LEAST_BATCHES, round(trees / size)))
        order = np.random.default_rng(1).permutation(len(self.trees))
        order = np.resize(order, count * size)
        return list(order.reshape(count, size))

    def save(self, path: pathlib.Path) -> None:
        """Writes the work into one file."""
        arrays = {f"weights/{name}": value for name, value in self.weights.items()}
        trees = dataclasses.asdict(self.trees)
        arrays |= {f"trees/{name}": value for name, value in trees.items()}
        np.savez(path, name=np.array(self.name), **arrays)


def load(path: str | pathlib.Path) -> Work:
    """Returns the work that `save` wrote."""
    with np.load(path) as file:
        parts: dict[str, dict[str, np.ndarray]] = {"weights": {}, "trees": {}}
        for name in file.files:
            part, _, field = name.partition("/")
            if field:
                parts[part][field] = file[name]
        module = importlib.import_module(f"benchmarks.works.{file['name']}")
    trees = module.RECURSION.inputs(**parts["trees"])
    return Work(module.RECURSION, trees, parts["weights"])


def random_weights(
    shapes: dict[str, tuple[int, ...]], seed: int = 0
) -> dict[str, np.ndarray]:
    """Returns small weights for matrices of some shapes, and zeros for vectors.

    A product of normally distributed rows keeps their size roughly, so that values
    neither vanish nor grow with the depth of a tree.
    """
    rng = np.random.default_rng(seed)

    def draw(name: str, shape: tuple[int, ...]) -> np.ndarray:
        if len(shape) == 1:
            return np.zeros(shape, np.float32)
        spread = 0.3 if name in TABLES else np.sqrt(1 / shape[0])
        return (spread * rng.standard_normal(shape)).astype(np.float32)

    return {name: draw(name, shape) for name, shape in shapes.items()}
