"""Writes trees down: as nested lists, and in brackets."""

from collections.abc import Iterator
from typing import Any

from recursive_tf.data.tree import Tree, is_missing


def nested_of(tree: Tree) -> Any:
    """Returns a tree as nested lists, in the form that `from_nested` takes.

    A node is a token or a list where that says all that is known, else a dictionary.
    """
    nested: list[Any] = [None] * len(tree)
    for node in tree.bottom_up():
        children = [nested[child] for child in tree.children[node]]
        nested[node] = _nested_node(tree, node, children)
    return nested[tree.root]


def _nested_node(tree: Tree, node: int, children: list[Any]) -> Any:
    features = {name: column[node] for name, column in tree.features.items()}
    known = features
    if not is_missing(tree.labels[node]):
        known = {"label": tree.labels[node], **known}
    has_token = not is_missing(tree.tokens[node])
    if not known and children and not has_token:
        return children
    if not known and has_token and not children:
        return tree.tokens[node]
    if has_token:
        known = {"token": tree.tokens[node], **known}
    return {**known, "children": children} if children else known


def brackets(tree: Tree) -> Iterator[str]:
    """Yields the pieces of a tree in brackets, e.g. `(3 (2 lovely) (2 film))`.

    A node is its label, its token and its children, as far as it has them; brackets
    are left out around a token alone.
    """
    stack: list[int | str] = [tree.root]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
            continue
        words = [
            str(value)
            for value in (tree.labels[item], tree.tokens[item])
            if not is_missing(value)
        ]
        children = tree.children[item]
        if len(words) == 1 and not children:
            yield words[0]
            continue
        yield "(" + " ".join(words)
        stack.append(")")
        for place, child in reversed(list(enumerate(children))):
            stack.append(child)
            if place or words:
                stack.append(" ")
