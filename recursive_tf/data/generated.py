"""Trees of one shape, with words or without, or of a grammar; a seed decides."""

import random
import reprlib
from collections.abc import Iterable, Mapping, Sequence

import tensorflow as tf

from recursive_tf.data.building import forest_of, guessed_forest_of
from recursive_tf.data.columns import INTEGERS, Columns
from recursive_tf.data.constituents import add_constituent
from recursive_tf.data.errors import ForestError
from recursive_tf.data.forest import Forest
from recursive_tf.data.joined_words import joined_words
from recursive_tf.data.shapes import Shape, shaped_tree, split_of
from recursive_tf.data.tree import Tree


def generate(
    shape: Shape,
    num_trees: int,
    *,
    words: int | range = 19,
    vocabulary: int = 1000,
    classes: int = 5,
    seed: int = 0,
) -> Forest:
    """Returns a batch of random binary trees of one shape.

    Tokens are int32: random at leaves, and -1 at inner nodes. Labels are int32, and
    random. Trees with the same number of words have the same number of nodes in all
    shapes, so that speeds can be compared (Jeong et al., EuroSys 2018, section 6.2).

    >>> generate("linear", 1, words=4).with_children().children.to_list()
    [[], [], [1, 0], [], [3, 2], [], [5, 4]]

    Args:
        shape: `"balanced"`: a node's parts have the same number of words. `"linear"`:
            the left part is one word. `"moderate"`: no part has less than a quarter.
            `"random"`: words are split anywhere.
        num_trees: How many, at least 1.
        words: The number of words of each tree. From a range, a number is drawn for
            each tree.
        vocabulary: The number of different tokens, which begin at 0.
        classes: The number of different labels, which begin at 0.
        seed: Of the random generator.

    Raises:
        ForestError: If there is no such shape, or a number is less than 1.
    """
    split = split_of(shape)
    lengths = range(words, words + 1) if isinstance(words, int) else words
    if min(num_trees, vocabulary, classes, len(lengths), *lengths[:1]) < 1:
        raise ForestError(
            "num_trees, words, vocabulary and classes must be at least 1. Got "
            f"{num_trees}, {words}, {vocabulary} and {classes}."
        )
    rng = random.Random(seed)
    trees = []
    for _ in range(num_trees):
        tree = shaped_tree(range(rng.choice(lengths)), split, rng)
        is_leaf = [not children for children in tree.children]
        tree.tokens = [rng.randrange(vocabulary) if leaf else None for leaf in is_leaf]
        tree.labels = [rng.randrange(classes) for _ in is_leaf]
        trees.append(tree)
    return forest_of(trees, INTEGERS)


def from_words(
    sentences: Iterable[Sequence[str]] | tf.RaggedTensor,
    shape: Shape = "balanced",
    *,
    seed: int = 0,
) -> Forest:
    """Returns a batch of binary trees over sentences that have none.

    >>> from_words([["not", "a", "dull", "film"]]).to_nested()
    [[['not', 'a'], ['dull', 'film']]]

    Words may be a RaggedTensor, e.g. that of a tokenizer. Then TensorFlow makes the
    trees, in a `tf.function` and in an exported model, too:

    >>> from_words(tf.strings.split(["not a dull film"])).to_nested()
    [[['not', 'a'], ['dull', 'film']]]

    Args:
        sentences: The words of each sentence. They become leaves, in order. A
            RaggedTensor, `[num_trees, (words)]`, has strings or whole numbers.
        shape: The shape of all trees: see `generate`. TensorFlow makes those that are
            not random, `"balanced"` and `"linear"`.
        seed: What random shapes follow from.

    Raises:
        ForestError: If there is no such shape, or a sentence without words, or one that
            is not split. In a RaggedTensor, a sentence without words is an
            `InvalidArgumentError`.
    """
    split = split_of(shape)
    if isinstance(sentences, tf.RaggedTensor):
        return joined_words(sentences, shape)
    rng = random.Random(seed)
    trees = []
    for number, words in enumerate(sentences):
        if isinstance(words, (str, bytes)):
            raise ForestError(
                f"sentence {number} is a text, {reprlib.repr(words)}, and not a list "
                "of words. Split it, e.g. with sentence.split()."
            )
        if not len(words):
            raise ForestError(f"sentence {number} has no words, so it is no tree.")
        trees.append(shaped_tree(words, split, rng))
    return forest_of(trees, Columns(tf.string, None, {}, binary=True))


Grammar = Mapping[str, Sequence[tuple[float, Sequence[str]]]]


def generate_from_grammar(
    grammar: Grammar,
    num_trees: int,
    *,
    start: str = "S",
    max_depth: int = 20,
    seed: int = 0,
) -> Forest:
    """Returns a batch of trees of a probabilistic context-free grammar.

    Tokens and labels are strings. The label of a node is its symbol. A node whose only
    child is a word has this word as its token, as in `read_ptb`.

    >>> grammar = {"S": [(1, ["N", "V"])], "N": [(1, ["dogs"])], "V": [(1, ["bark"])]}
    >>> generate_from_grammar(grammar, 1)[0]
    <Tree, 3 nodes: tokens string, labels string; children
      (S (N dogs) (V bark))>

    Args:
        grammar: The rules of each symbol, with their weights. A symbol without rules
            is a word.
        num_trees: How many, at least 1.
        start: The symbol of roots.
        max_depth: From this depth on, only the rules that end soonest are taken.
        seed: Of the random generator.

    Raises:
        ForestError: If `start` has no rules, or a symbol's rules never end.
    """
    if start not in grammar:
        raise ForestError(f"The grammar has no rules for the start symbol {start!r}.")
    heights = _heights(grammar)
    rng = random.Random(seed)
    trees = [_derive(grammar, heights, start, max_depth, rng) for _ in range(num_trees)]
    return guessed_forest_of(trees, binary=False)


def _heights(grammar: Grammar) -> dict[str, int]:
    """Returns the least height of a tree of each symbol.

    Raises:
        ForestError: If a symbol has none.
    """
    heights: dict[str, int] = {}
    for height in range(1, len(grammar) + 1):
        ready = [
            symbol
            for symbol, rules in grammar.items()
            if symbol not in heights
            and any(all(p in heights or p not in grammar for p in r) for _, r in rules)
        ]
        heights |= dict.fromkeys(ready, height)
    for symbol in grammar:
        if symbol not in heights:
            raise ForestError(
                f"The rules of {symbol!r} never end: each has a symbol whose rules "
                "never end."
            )
    return heights


def _derive(
    grammar: Grammar,
    heights: Mapping[str, int],
    start: str,
    max_depth: int,
    rng: random.Random,
) -> Tree:
    tree = Tree()
    # Symbols that are not added yet, with what is left to do and what is done of each.
    stack: list[tuple[str, list[str], list[str | int]]]
    stack = [(start, list(_rule(grammar, heights, start, max_depth <= 0, rng)), [])]
    while stack:
        symbol, left, parts = stack[-1]
        if not left:
            stack.pop()
            node = add_constituent(tree, symbol, parts)
            if stack:
                stack[-1][2].append(node)
            continue
        part = left.pop(0)
        if part in grammar:
            must_end = len(stack) >= max_depth
            rule = _rule(grammar, heights, part, must_end, rng)
            stack.append((part, list(rule), []))
        else:
            parts.append(part)
    return tree


def _rule(
    grammar: Grammar,
    heights: Mapping[str, int],
    symbol: str,
    must_end: bool,
    rng: random.Random,
) -> Sequence[str]:
    rules = grammar[symbol]
    if must_end:
        tallest = [max(heights.get(part, 0) for part in rule) for _, rule in rules]
        ending = min(tallest)
        rules = [r for r, h in zip(rules, tallest, strict=True) if h == ending]
    [(_, rule)] = rng.choices(rules, [weight for weight, _ in rules])
    return rule
