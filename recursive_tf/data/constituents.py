"""Nodes of constituency trees, from a label and what is in its brackets."""

from collections.abc import Sequence
from typing import Any

from recursive_tf.data.tree import Tree


def add_constituent(tree: Tree, label: Any, parts: Sequence[str | int]) -> int:
    """Adds a node with a label; its parts are words, and nodes that were added.

    A node with one word alone has it as its token. Other words become leaves without a
    label of their own.
    """
    if len(parts) == 1 and isinstance(parts[0], str):
        return tree.add(parts[0], label=label)
    children = [tree.add(part) if isinstance(part, str) else part for part in parts]
    return tree.add(None, children, label)
