"""How large trees are, and what is in them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from recursive_tf.data.errors import ForestError
from recursive_tf.data.forest import Forest
from recursive_tf.data.measures import depths
from recursive_tf.data.tree import is_missing
from recursive_tf.optional import optional_module

MOST_COMMON = 5


@dataclasses.dataclass(frozen=True)
class Description:
    """What `describe` finds. Printed, it is a short table.

    Attributes:
        sizes: The number of nodes of each tree.
        depths: The number of edges from each root to its deepest node.
        tokens: How often each token is there.
        labels: How often each label is there.
    """

    sizes: np.ndarray
    depths: np.ndarray
    tokens: Counter[Any]
    labels: Counter[Any]

    def __str__(self) -> str:
        """Returns the table."""
        rows = [
            ("trees", f"{len(self.sizes):,}"),
            ("nodes", f"{self.sizes.sum():,}"),
            ("nodes a tree", _spread(self.sizes)),
            ("depth", _spread(self.depths)),
            ("different tokens", _common(self.tokens)),
            ("different labels", _common(self.labels)),
        ]
        return "\n".join(f"{name:<17} {value}" for name, value in rows)

    def plot(self, path: Any = None) -> Any:
        """Returns a figure of matplotlib with sizes, depths, and depths by size.

        Args:
            path: Of a file to save it to, e.g. `"trees.png"`.

        Raises:
            ImportError: If matplotlib is not installed.
        """
        figures = optional_module("matplotlib.figure", "The plot of describe()")
        figure = figures.Figure(figsize=(11, 3), layout="constrained")
        axes = figure.subplots(1, 3)
        for axis, values, name in zip(
            axes, (self.sizes, self.depths), ("nodes", "depth"), strict=False
        ):
            axis.hist(values, bins=min(40, len(np.unique(values))))
            axis.set(xlabel=name, ylabel="trees")
        axes[2].scatter(self.sizes, self.depths, s=4, alpha=0.4)
        axes[2].set(xlabel="nodes", ylabel="depth")
        if path is not None:
            figure.savefig(path)
        return figure


def describe(trees: Forest | Iterable[Forest], plot: Any = None) -> Description:
    """Prints sizes, depths, tokens and labels of trees, and returns them.

    >>> from recursive_tf.data import from_nested
    >>> _ = describe(from_nested([["a", ["b", "a"]], "c"]))
    trees             2
    nodes             6
    nodes a tree      1 to 5, mean 3.0, median 3
    depth             0 to 2, mean 1.0, median 1
    different tokens  3: a 2, b 1, c 1
    different labels  0

    Args:
        trees: A forest or a dataset of forests, trees or batches.
        plot: The path of a picture to save, e.g. `"trees.png"`; None for none.

    Raises:
        ForestError: If there is no tree.
        ImportError: If there should be a plot and matplotlib is not installed.
    """
    forests = [trees] if isinstance(trees, Forest) else trees
    sizes, all_depths = [], []
    tokens: Counter[Any] = Counter()
    labels: Counter[Any] = Counter()
    for forest in forests:
        if not int(forest.num_trees):
            continue
        sizes.append(np.atleast_1d(forest.sizes.numpy()))
        all_depths.append(depths(forest))
        tokens.update(_counted(forest.tokens))
        labels.update({} if forest.labels is None else _counted(forest.labels))
    if not sizes:
        raise ForestError("There is no tree to describe.")
    found = Description(
        np.concatenate(sizes), np.concatenate(all_depths), tokens, labels
    )
    print(found)  # noqa: T201 (what it is called for)
    if plot is not None:
        found.plot(plot)
    return found


def _counted(values: Any) -> dict[Any, int]:
    unique, counts = np.unique(values.numpy().ravel(), return_counts=True)
    found = dict(zip(unique.tolist(), counts.tolist(), strict=True))
    text = {
        value.decode(errors="replace") if isinstance(value, bytes) else value: n
        for value, n in found.items()
    }
    return {value: n for value, n in text.items() if not is_missing(value)}


def _spread(values: np.ndarray) -> str:
    return (
        f"{values.min()} to {values.max()}, mean {values.mean():.1f}, "
        f"median {np.median(values):.0f}"
    )


def _common(counts: Counter[Any]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    common = ", ".join(f"{value} {n:,}" for value, n in ordered[:MOST_COMMON])
    more = ", ..." if len(counts) > MOST_COMMON else ""
    return f"{len(counts):,}" + (f": {common}{more}" if counts else "")
