"""A tree in Python lists, for what is done node by node: reading, writing, drawing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recursive_tf.data.validation import edges_of

if TYPE_CHECKING:
    from recursive_tf.data.forest import Forest

# What stands where a node has no token or label, by the type of the others.
MISSING = {str: "", int: -1, float: float("nan")}


def is_missing(value: Any) -> bool:
    """Returns whether this stands where a node has no token or label."""
    return value is None or value != value or value == MISSING.get(type(value))


@dataclasses.dataclass
class Tree:
    """One tree, or a graph whose nodes share children.

    A node is its place in the lists. What builds a tree bottom-up calls `add` for
    children before their parents; the root is then the node that was added last.

    Attributes:
        tokens: The word of each node, a string or an integer; None if it has none.
        children: The children of each node.
        labels: The label of each node, or None.
        features: By name, what else is known of each node.
        root: The node above all others.
    """

    tokens: list[Any] = dataclasses.field(default_factory=list)
    children: list[Sequence[int]] = dataclasses.field(default_factory=list)
    labels: list[Any] = dataclasses.field(default_factory=list)
    features: dict[str, list[Any]] = dataclasses.field(default_factory=dict)
    root: int = -1

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.tokens)

    def add(self, token: Any, children: Sequence[int] = (), label: Any = None) -> int:
        """Adds a node, which is now the root, and returns it."""
        self.tokens.append(token)
        self.children.append(children)
        self.labels.append(label)
        self.root = len(self.tokens) - 1
        return self.root

    def bottom_up(self) -> Iterator[int]:
        """Yields every node once, children before their parents, from left to right."""
        is_done = [False] * len(self)
        stack = [self.root]
        while stack:
            node = stack.pop()
            if node < 0:  # All children of ~node are done.
                yield ~node
            elif not is_done[node]:
                is_done[node] = True
                stack.append(~node)
                stack.extend(reversed(self.children[node]))

    def depth(self) -> int:
        """Returns the number of edges on the longest way down from the root."""
        depths = [0] * len(self)
        for node in self.bottom_up():
            below = (depths[child] + 1 for child in self.children[node])
            depths[node] = max(below, default=0)
        return depths[self.root]


def trees_of(forest: Forest) -> list[Tree]:
    """Returns the trees of a forest that has values, its nodes in their order.

    Strings are `str`, or `bytes` where they are no UTF-8. Nodes are numbered from 0 in
    each tree.
    """
    parents, children = edges_of(forest)
    sizes = np.atleast_1d(forest.sizes.numpy())
    ends = np.cumsum(sizes)
    starts = ends - sizes
    shifts = np.repeat(starts, sizes)
    lists = np.split(
        children - shifts[parents],
        np.searchsorted(parents, np.arange(1, int(forest.num_nodes))),
    )
    roots = (np.atleast_1d(forest.roots.numpy()) - starts).tolist()
    columns = {
        "tokens": _values(forest.tokens),
        "children": [c.tolist() for c in lists],
    }
    if forest.labels is not None:
        columns["labels"] = _values(forest.labels)
    features = {name: _values(feature) for name, feature in forest.features.items()}
    return [
        Tree(
            **{
                "labels": [None] * (end - start),
                **{name: column[start:end] for name, column in columns.items()},
            },
            features={name: column[start:end] for name, column in features.items()},
            root=root,
        )
        for start, end, root in zip(starts, ends, roots, strict=True)
    ]


def _values(column: Any) -> list[Any]:
    values: list[Any] = column.numpy().tolist()
    if column.dtype.name == "string":
        return [_text(value) for value in values]
    return values


def _text(value: Any) -> Any:
    try:
        return value.decode()
    except (AttributeError, UnicodeDecodeError):
        return value
