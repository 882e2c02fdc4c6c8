"""What a picture shows of a tree."""

from __future__ import annotations

import colorsys
import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from recursive_tf.data.errors import ForestError
from recursive_tf.data.tree import Tree, is_missing, trees_of

if TYPE_CHECKING:
    from recursive_tf.data.forest import Forest

RED, GREEN, LAST_HUE = 0.0, 1 / 3, 0.85
LIGHTNESS, SATURATION = 0.55, 0.65


@dataclasses.dataclass(frozen=True)
class ShownTree:
    """A tree, with a color for each node.

    Attributes:
        tree: Its nodes, and their labels.
        predictions: What a model says of each node, or None.
        colors: Of each node, as `#rrggbb`, or None where nothing is known.
    """

    tree: Tree
    predictions: list[Any] | None
    colors: list[str | None]

    def token(self, node: int) -> str:
        """Returns the word of a node, or an empty string."""
        token = self.tree.tokens[node]
        return "" if is_missing(token) else str(token)

    def mark(self, node: int) -> str:
        """Returns a node's label, or the prediction, with the label if it is wrong."""
        label = self.tree.labels[node]
        if self.predictions is None:
            return "" if is_missing(label) else str(label)
        predicted = self.predictions[node]
        if is_missing(label) or label == predicted:
            return str(predicted)
        return f"{predicted}, not {label}"


def shown_trees(forest: Forest, predictions: Any, max_trees: int) -> list[ShownTree]:
    """Returns the first trees of a forest, colored by label or prediction.

    Args:
        forest: That has values.
        predictions: One a node of the forest, of the type of its labels; or None.
        max_trees: The most that are returned.

    Raises:
        ForestError: If there is not a prediction for each node, or it is not of the
            shape of a label.
    """
    values = None if predictions is None else _values(predictions)
    if values is not None and len(values) != int(forest.num_nodes):
        raise ForestError(
            f"There are {len(values)} predictions for {int(forest.num_nodes)} nodes; "
            "each needs one, e.g. tf.argmax(logits, -1)."
        )
    of_one = np.asarray(predictions).shape[1:] if values is not None else ()
    of_label = () if forest.labels is None else tuple(forest.labels.shape[1:])
    if of_one not in ((), of_label):
        raise ForestError(
            f"A prediction of one node is of shape {[*of_one]}, which is no label of a "
            "node. Choose one, e.g. tf.argmax(logits, -1)."
        )
    first = forest[:max_trees] if forest.shape.rank else forest
    trees = trees_of(first)
    labels = [] if forest.labels is None else _values(forest.labels)
    palette = colors_of([*labels, *(values or [])])
    shown = []
    start = 0
    for tree in trees:
        end = start + len(tree)
        of_tree = None if values is None else values[start:end]
        marks = tree.labels if of_tree is None else of_tree
        colors = [palette.get(mark) if _has_color(mark) else None for mark in marks]
        shown.append(ShownTree(tree, of_tree, colors))
        start = end
    return shown


def colors_of(values: Iterable[Any]) -> dict[Any, str]:
    """Returns a color for each value: numbers from red to green, words all around."""
    known = sorted({value for value in values if _has_color(value)})
    last = GREEN if not any(isinstance(value, str) for value in known) else LAST_HUE
    step = (last - RED) / max(1, len(known) - 1)
    return {value: _hex(RED + i * step) for i, value in enumerate(known)}


def _has_color(value: Any) -> bool:
    """Whether a color can stand for a label: for none that is missing, or a vector."""
    return not isinstance(value, list) and not is_missing(value)


def _hex(hue: float) -> str:
    rgb = colorsys.hls_to_rgb(hue, LIGHTNESS, SATURATION)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


def _values(values: Any) -> list[Any]:
    listed: list[Any] = np.asarray(values).tolist()
    return [v.decode(errors="replace") if isinstance(v, bytes) else v for v in listed]
