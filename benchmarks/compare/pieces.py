"""What is compared: pieces of the workload, their sizes, and the trees they take."""

import dataclasses
import itertools
import pathlib
import random
from typing import Any, NamedTuple

KINDS = ("inference", "training")
WORDS = 19
# As many as the Stanford Sentiment Treebank has.
VOCABULARY = 18_280
CLASSES = 5


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What a workload is given, as in the Stanford Sentiment Treebank.

    Attributes:
        trees: How many; at least one batch of the largest size.
        batches: Numbers of trees.
        hidden: The length of a node's h and c.
        embedding: The length of a word's vector.
        fib: The argument of fib.
        seconds: What a timed piece takes at least.
    """

    trees: int = 256
    batches: tuple[int, ...] = (1, 25, 256)
    hidden: int = 150
    embedding: int = 300
    fib: int = 20
    seconds: float = 0.25


QUICK = Sizes(trees=4, batches=(1, 2, 4), hidden=4, embedding=4, fib=8, seconds=0.0)


class Piece(NamedTuple):
    """One figure.

    Attributes:
        name: E.g. "TreeLSTM, training, batch 25".
        unit: E.g. "trees/s".
        order: What the workload is asked for.
        is_rate: Whether larger is better.
    """

    name: str
    unit: str
    order: dict[str, Any]
    is_rate: bool = False


def steady_pieces(sizes: Sizes) -> list[Piece]:
    """Returns what is measured in a process that has run for a while."""
    what = {"inference": "inference", "training": "forward + gradient"}
    calls = [
        Piece(
            f"fib({sizes.fib}), {what[kind]}",
            "us a call",
            {"do": "calls", "kind": kind},
        )
        for kind in KINDS
    ]
    trees = [
        Piece(
            f"TreeLSTM, {kind}, batch {batch}",
            "trees/s",
            {"do": "trees", "kind": kind, "batch": batch},
            is_rate=True,
        )
        for batch, kind in itertools.product(sizes.batches, KINDS)
    ]
    return [*calls, *trees]


def first_piece() -> Piece:
    """Returns what only a fresh process shows: how long its first step takes."""
    order = {"do": "first", "kind": "training"}
    return Piece("TreeLSTM, tracing + first training step", "s", order)


def memory_piece(sizes: Sizes) -> Piece:
    """Returns what a fresh process shows next: what large steps add to its memory."""
    batch = max(sizes.batches)
    order = {"do": "train", "batch": batch}
    return Piece(f"TreeLSTM, training, batch {batch}, peak memory", "MiB", order)


def all_pieces(sizes: Sizes) -> list[Piece]:
    """Returns all, in the order of the table."""
    return [*steady_pieces(sizes), first_piece(), memory_piece(sizes)]


def write_trees(path: pathlib.Path, sizes: Sizes, data: pathlib.Path | None) -> None:
    """Writes what the workload reads, so that all revisions have the same trees.

    Args:
        path: The file to write, a tree a line, as the Stanford Sentiment Treebank has.
        sizes: How many.
        data: A folder with train.txt, of which the first trees are taken; without it,
            trees are random.

    Raises:
        ValueError: If there are too few.
    """
    if data is None:
        rng = random.Random(0)
        lines = [random_tree(rng, WORDS) for _ in range(sizes.trees)]
    else:
        with (data / "train.txt").open(encoding="utf-8") as file:
            lines = list(itertools.islice(map(str.strip, file), sizes.trees))
    if len(lines) < sizes.trees:
        raise ValueError(
            f"{data}/train.txt has {len(lines)} trees, and {sizes.trees} are needed."
        )
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def random_tree(rng: random.Random, words: int) -> str:
    """Returns a tree whose words are split anywhere, with a random label a node."""
    label = rng.randrange(CLASSES)
    if words == 1:
        return f"({label} w{rng.randrange(VOCABULARY)})"
    left = rng.randrange(1, words)
    parts = (random_tree(rng, left), random_tree(rng, words - left))
    return f"({label} {' '.join(parts)})"
