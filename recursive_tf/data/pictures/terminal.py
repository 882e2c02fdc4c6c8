"""Trees in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recursive_tf.data.pictures.shown_tree import ShownTree, shown_trees
from recursive_tf.optional import optional_module

if TYPE_CHECKING:
    from recursive_tf.data.forest import Forest


def show(
    forest: Forest, predictions: Any, max_trees: int, max_nodes: int, console: Any
) -> None:
    """Prints the first trees of a forest."""
    rich = optional_module("rich.console", "forest.show()")
    console = console or rich.Console()
    shown = shown_trees(forest, predictions, max_trees)
    for tree in shown:
        console.print(_drawn(tree, max_nodes))
    if forest.shape.rank and len(forest) > len(shown):
        console.print(f"... and {len(forest) - len(shown)} more trees")


def _drawn(shown: ShownTree, max_nodes: int) -> Any:
    """Returns a tree of rich; what comes after `max_nodes` nodes is left out."""
    branch = optional_module("rich.tree", "forest.show()").Tree
    drawn = branch(_line(shown, shown.tree.root))
    stack = [(child, drawn) for child in reversed(shown.tree.children[shown.tree.root])]
    num_nodes = 1
    while stack and num_nodes < max_nodes:
        node, above = stack.pop()
        below = above.add(_line(shown, node))
        stack += [(child, below) for child in reversed(shown.tree.children[node])]
        num_nodes += 1
    for _, above in stack[-1:]:
        above.add(f"... {len(shown.tree) - num_nodes} more nodes")
    return drawn


def _line(shown: ShownTree, node: int) -> Any:
    text = optional_module("rich.text", "forest.show()").Text
    mark, token = shown.mark(node), shown.token(node)
    color = shown.colors[node]
    words = [(mark, f"bold {color}" if color else "bold")] if mark else []
    words += [(token, "")] if token else []
    if not words:
        return text("·", "dim")
    return text(" ").join(text(word, style) for word, style in words)
