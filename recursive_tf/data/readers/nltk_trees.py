"""Trees of nltk, without a need for nltk itself."""

from collections.abc import Iterable
from typing import Any

from recursive_tf.data.building import guessed_forest_of
from recursive_tf.data.constituents import add_constituent
from recursive_tf.data.errors import ForestError
from recursive_tf.data.forest import Forest
from recursive_tf.data.tree import Tree


def from_nltk(trees: Iterable[Any], binary: bool | None = None) -> Forest:
    """Returns a batch of `nltk.Tree`s, e.g. `nltk.corpus.treebank.parsed_sents()`.

    A node whose only child is a word has this word as its token. So the label of a word
    is its part of speech. Other words become leaves with the label `""`. Words with a
    tag, as nltk's chunkers return them, `("dog", "NN")`, have the tag as their label.

    Args:
        trees: At least one.
        binary: If True, nodes get a left and a right child. If False, they get a list
            of children. If None, they get left and right if every node has no child or
            two.

    Raises:
        ForestError: If something is neither an `nltk.Tree` nor a word, alone or with a
            tag.
    """
    return guessed_forest_of([_tree_of(tree) for tree in trees], binary)


def _tree_of(nltk_tree: Any) -> Tree:
    tree = Tree()
    # Each node that is not added yet, with those of its parts that are.
    stack: list[tuple[Any, list[str | int]]] = [(_checked(nltk_tree), [])]
    while stack:
        node, parts = stack[-1]
        if len(parts) < len(node):
            child = node[len(parts)]
            if isinstance(child, str):
                parts.append(child)
            elif _is_tagged_word(child):
                word, tag = child
                parts.append(tree.add(word, label=tag))
            else:
                stack.append((_checked(child), []))
        else:
            stack.pop()
            number = add_constituent(tree, node.label(), parts)
            if stack:
                stack[-1][1].append(number)
    return tree


def _is_tagged_word(part: Any) -> bool:
    return isinstance(part, tuple) and [type(text) for text in part] == [str, str]


def _checked(node: Any) -> Any:
    if not callable(getattr(node, "label", None)) or not len(node):
        raise ForestError(
            "Expected an nltk.Tree with at least one word, each a str or a pair "
            f"(word, tag). Got {node!r:.80}."
        )
    return node
