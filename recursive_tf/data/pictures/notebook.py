"""Trees in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import tensorflow as tf

from recursive_tf.data.pictures.shown_tree import shown_trees
from recursive_tf.data.pictures.svg import drawing
from recursive_tf.data.text import summary

if TYPE_CHECKING:
    from recursive_tf.data.forest import Forest

MAX_TREES = 3
# Of a larger tree a notebook shows the text alone.
MAX_NODES = 500


def picture_of(forest: Forest) -> str | None:
    """Returns one tree as SVG, or None, with which a notebook shows the text."""
    if tf.is_symbolic_tensor(forest.roots) or forest.shape.rank:
        return None
    if int(forest.num_nodes) > MAX_NODES:
        return None
    [shown] = shown_trees(forest, None, 1)
    return drawing(shown)


def page_of(forest: Forest) -> str | None:
    """Returns the first trees of a batch as HTML, or None as `picture_of`."""
    if tf.is_symbolic_tensor(forest.roots) or not forest.shape.rank:
        return None
    shown = shown_trees(forest, None, MAX_TREES)
    pictures = [drawing(tree) for tree in shown if len(tree.tree) <= MAX_NODES]
    head = html.escape(summary(forest).splitlines()[0].strip("<>"))
    return f"<div>{head}</div>\n" + "\n".join(pictures)
