"""Trees as Python lists in lists.

A leaf is its token: `"film"`, `7`. A node with children is a list of them. A node of
which more is known is a dictionary:

    {"token": "film", "label": 2, "children": [...], "pos": "NOUN"}

with keys that may be left out, and any others, which are features.
"""

import dataclasses
import numbers
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recursive_tf.data.building import guessed_forest_of
from recursive_tf.data.errors import ForestError
from recursive_tf.data.forest import Forest
from recursive_tf.data.tree import Tree

EXPECTED = (
    "a node is a token (a string or a number), a list of at least one node, or a "
    "dictionary with 'token', 'label', 'children' and features"
)
_TOKENS = (str, bytes, numbers.Number)
# Of deeper nodes an error names the depth alone.
MAX_PLACES = 20


class NestedError(ForestError):
    """Something in a nested list is no node.

    Attributes:
        values: What it is, and what it is in, from the inside.
    """

    def __init__(self, text: str, values: Sequence[Any]) -> None:
        super().__init__(text)
        self.values = values


def from_nested(trees: Iterable[Any], binary: bool | None = None) -> Forest:
    """Returns a batch of trees that are nested lists.

    >>> forest = from_nested([["a", ["b", "c"]], {"token": "d", "label": 1}])
    >>> forest.to_nested()[0]
    ['a', ['b', 'c']]

    Trees may be of any depth. If one list object stands in two places, it becomes two
    nodes.

    Args:
        trees: Each a node: a token, a list of nodes, or a dictionary with any of
            "token", "label", "children", and features, which all nodes then have.
        binary: If True, nodes get a left and a right child. If False, they get a list
            of children. If None, they get left and right if every node has no child or
            two.

    Raises:
        ForestError: If something is no node; with its tree and its place in it. Also if
            one tree is given, where a list of trees is expected.
    """
    if isinstance(trees, (str, bytes, Mapping)):
        raise ForestError(
            f"from_nested takes a list of trees, and got {reprlib.repr(trees)}. If "
            "this is a tree, say from_nested([tree])."
        )
    plain = []
    for number, nested in enumerate(trees):
        try:
            plain.append(tree_of_nested(nested))
        except NestedError as error:
            raise ForestError(f"tree {number}: {error} Expected: {EXPECTED}.") from None
    return guessed_forest_of(plain, binary)


def tree_of_nested(nested: Any) -> Tree:
    """Returns one tree.

    Raises:
        NestedError: If something in it is no node, with its place, e.g. `[0][1]`.
    """
    tree = Tree()
    open_nodes = [_OpenNode.of(nested, ())]
    inside = {id(nested)}
    while open_nodes:
        node = open_nodes[-1]
        if len(node.done) < len(node.children):
            child = node.children[len(node.done)]
            if id(child) in inside and not isinstance(child, _TOKENS):
                raise NestedError(f"{_place(open_nodes)} contains itself.", [child])
            inside.add(id(child))
            open_nodes.append(_OpenNode.of(child, open_nodes))
        else:
            open_nodes.pop()
            inside.discard(id(node.value))
            number = tree.add(node.token, node.done, node.label)
            _add_features(tree, node.features)
            if open_nodes:
                open_nodes[-1].done.append(number)
    return tree


@dataclasses.dataclass
class _OpenNode:
    """A node of which not all children are added yet; `done` has those that are."""

    value: Any
    token: Any = None
    label: Any = None
    children: Sequence[Any] = ()
    features: dict[str, Any] = dataclasses.field(default_factory=dict)
    done: list[int] = dataclasses.field(default_factory=list)

    @classmethod
    def of(cls, value: Any, above: Sequence["_OpenNode"]) -> "_OpenNode":
        """Reads a node; those above it say where it is if it is none."""
        match value:
            case str() | bytes() | numbers.Number():
                return cls(value, token=value)
            case dict() if all(isinstance(key, str) for key in value):
                features = dict(value)
                known: dict[str, Any] = {
                    key: features.pop(key)
                    for key in ("token", "label", "children")
                    if key in features
                }
                if known.get("children") is None:
                    known["children"] = ()
                if _is_list(known["children"]):
                    return cls(value, **known, features=features)
            case [_, *_]:
                return cls(value, children=value)
        raise NestedError(
            f"{_place(above)} is {reprlib.repr(value)}.",
            [value, *(node.value for node in reversed(above))],
        )


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _place(above: Sequence[_OpenNode]) -> str:
    if not above:
        return "the root"
    if len(above) > MAX_PLACES:
        return f"a node at depth {len(above)}"
    return "the node " + "".join(f"[{len(node.done)}]" for node in above)


def _add_features(tree: Tree, features: dict[str, Any]) -> None:
    for name in features.keys() - tree.features.keys():
        tree.features[name] = [None] * (len(tree) - 1)
    for name, column in tree.features.items():
        column.append(features.get(name))
