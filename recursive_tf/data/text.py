"""A forest in a few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from recursive_tf.data.errors import ForestError
from recursive_tf.data.rows import arrays_of
from recursive_tf.data.tree import trees_of
from recursive_tf.data.writing import brackets

if TYPE_CHECKING:
    from recursive_tf.data.forest import Forest

MAX_TREES = 3
MAX_WIDTH = 78


def summary(forest: Forest) -> str:
    """Returns how many trees there are, what of, and the first ones in brackets."""
    arrays = arrays_of(forest)
    what = ", ".join(
        f"{name.rpartition(':')[2]} {arrays[name].dtype.name}"
        for name in arrays
        if name not in ("left", "right", "children")
    )
    links = "left, right" if forest.is_binary else "children"
    rank = forest.shape.rank
    if tf.is_symbolic_tensor(forest.roots):
        return f"<{'Forest' if rank else 'Tree'} without values: {what}; {links}>"
    name = f"Forest of {forest.roots.shape[0]} trees" if rank else "Tree"
    head = f"<{name}, {int(forest.num_nodes)} nodes: {what}; {links}"
    return "\n  ".join([head, *_first_trees(forest)]) + ">"


def _first_trees(forest: Forest) -> list[str]:
    is_tree = forest.shape.rank == 0
    num_trees = 1 if is_tree else len(forest)
    try:
        # What is wrong with a forest is often looked for by showing it.
        shown = [
            _line((forest if is_tree else forest[i]).validate(dag=True))
            for i in range(min(MAX_TREES, num_trees))
        ]
    except ForestError as error:
        return [f"not valid: {error}"]
    return shown + ["..."] * (num_trees > MAX_TREES)


def _line(tree: Forest) -> str:
    line = ""
    for piece in brackets(trees_of(tree)[0]):
        line += piece.replace("\n", " ")
        if len(line) > MAX_WIDTH:
            return line[: MAX_WIDTH - 3] + "..."
    return line
