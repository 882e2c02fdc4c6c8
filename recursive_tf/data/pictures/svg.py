"""Trees as SVG."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from recursive_tf.data.pictures.shown_tree import ShownTree, shown_trees
from recursive_tf.data.tree import Tree

if TYPE_CHECKING:
    from recursive_tf.data.forest import Forest

LEVEL, CHARACTER, GAP, MARGIN, RADIUS = 44, 7.5, 14, 20, 11
GRAY = "#d8d8d8"
# Of a longer word, a picture shows the beginning.
MAX_WORD = 24


def to_svg(forest: Forest, predictions: Any) -> str:
    """Returns a picture of one tree."""
    [shown] = shown_trees(forest, predictions, 1)
    return drawing(shown)


def drawing(shown: ShownTree) -> str:
    """Returns a tree as SVG: a circle a node, its word below, lines to its children."""
    tree = shown.tree
    reachable = list(tree.bottom_up())
    words = {node: _shortened(shown.token(node)) for node in reachable}
    x, width = _columns(tree, reachable, words)
    level = _levels(tree, reachable)
    y = {node: MARGIN + LEVEL * level[node] for node in reachable}
    height = 2 * MARGIN + LEVEL * (1 + max(level.values()))
    lines = [
        f'<line x1="{x[node]:.0f}" y1="{y[node]}" x2="{x[child]:.0f}" y2="{y[child]}"/>'
        for node in reachable
        for child in tree.children[node]
    ]
    nodes = [_node(shown, node, words[node], x[node], y[node]) for node in reachable]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
            f'height="{height}" font-family="sans-serif" font-size="12" '
            'text-anchor="middle">',
            '<g stroke="#888">',
            *lines,
            "</g>",
            *nodes,
            "</svg>",
        ]
    )


def _columns(
    tree: Tree, reachable: list[int], words: dict[int, str]
) -> tuple[dict[int, float], float]:
    """Returns where each node stands, parents above the middle of their children."""
    x: dict[int, float] = {}
    right = float(MARGIN)
    for node in reachable:
        room = max(2 * RADIUS, CHARACTER * len(words[node])) + GAP
        children = tree.children[node]
        if children:
            x[node] = (x[children[0]] + x[children[-1]]) / 2
            right = max(right, x[node] + room / 2)
        else:
            x[node] = right + room / 2
            right += room
    return x, right + MARGIN


def _levels(tree: Tree, reachable: list[int]) -> dict[int, int]:
    """Returns how far each node is from the root, on the longest way."""
    level = dict.fromkeys(reachable, 0)
    for node in reversed(reachable):
        for child in tree.children[node]:
            level[child] = max(level[child], level[node] + 1)
    return level


def _node(shown: ShownTree, node: int, word: str, x: float, y: int) -> str:
    mark = html.escape(shown.mark(node))
    word = html.escape(word)
    fill = shown.colors[node] or GRAY
    return (
        f'<circle cx="{x:.0f}" cy="{y}" r="{RADIUS}" fill="{fill}">'
        f"<title>node {node}</title></circle>"
        + (f'<text x="{x:.0f}" y="{y + 4}">{mark}</text>' if mark else "")
        + (f'<text x="{x:.0f}" y="{y + RADIUS + 13}">{word}</text>' if word else "")
    )


def _shortened(word: str) -> str:
    return word if len(word) <= MAX_WORD else word[: MAX_WORD - 1] + "…"
