"""Which epoch is taken of a run, and what is said of it, from the figures of all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

HELD_OUT, DEV, TEST = "held_out", "dev", "test"
SPLITS = (HELD_OUT, DEV, TEST)
# Of each number of labels: what decides, as in the scripts.
DECIDES = {"all": "root_fine", "binary": "root_binary"}
KEPT = ("root_fine", "root_binary")

Epoch = Mapping[str, Any]


def chosen(epochs: Iterable[Epoch], labels: str) -> dict[str, Any]:
    """Returns the best epoch by each split, with the figures of all splits.

    Of two epochs that are as good, the first is taken, as the scripts do. The test
    split chooses nothing.

    >>> found = [{"epoch": e, "held_out": {"root_binary": a}, "dev": {"root_binary": b}}
    ...          for e, a, b in [(1, 0.7, 0.8), (2, 0.75, 0.78), (3, 0.75, 0.8)]]
    >>> by = chosen(found, "binary")
    >>> by["held_out"]
    {'epoch': 2, 'held_out': {'root_binary': 0.75}, 'dev': {'root_binary': 0.78}}
    >>> by["dev"]["epoch"]
    1

    Args:
        epochs: What was measured after each, in order: of each split, the metrics.
        labels: "all" or "binary".
    """
    epochs = list(epochs)
    by = [split for split in (HELD_OUT, DEV) if split in epochs[0]]
    return {split: _figures(_best(epochs, split, DECIDES[labels])) for split in by}


def _best(epochs: list[Epoch], split: str, metric: str) -> Epoch:
    return max(epochs, key=lambda epoch: epoch[split][metric])


def _figures(epoch: Epoch) -> dict[str, Any]:
    found: dict[str, Any] = {"epoch": epoch["epoch"]}
    for split in SPLITS:
        if split in epoch:
            there = [name for name in KEPT if name in epoch[split]]
            found[split] = {name: round(epoch[split][name], 5) for name in there}
    return found
