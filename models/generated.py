"""Trees that need no download: logical expressions, labelled with their values.

An expression is a literal, or an operator and a pair of expressions, so that a binary
tree holds it and an operator is a word like any other:

    (1 (2 implies) (2 (0 false) (1 true)))

The label of a node is its value, 0 or 1; operators and pairs have none and get
`NO_VALUE`. The value depends on where the brackets are: the same words, grouped
otherwise, are another expression. Together the operators are true for half of all
pairs, so that no value is common enough to guess.
"""

import operator
import random

from models.trees import Tree

OPERATORS = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "implies": operator.le,
    "exceeds": operator.gt,
}
LITERALS = ("false", "true")
NO_VALUE = 2
NUM_CLASSES = 3


def generate_trees(num_trees: int, depths: range, seed: int) -> list[Tree]:
    """Returns random expressions, the same for the same arguments.

    Args:
        num_trees: How many, e.g. 1,000.
        depths: How many operators may be nested, e.g. `range(1, 4)`. Each tree is
            given one of these depths, drawn evenly. An operator and its pair are two
            steps down, so a tree has twice the depth of its expression.
        seed: For the random generator.
    """
    rng = random.Random(seed)
    return [_generate_tree(rng.choice(depths), rng) for _ in range(num_trees)]


def _generate_tree(depth: int, rng: random.Random) -> Tree:
    tree = Tree()
    _add_expression(tree, depth, rng)
    return tree


def _add_expression(tree: Tree, depth: int, rng: random.Random) -> int:
    """Adds an expression in which exactly `depth` operators are nested."""
    if depth == 0:
        value = rng.randrange(len(LITERALS))
        return tree.add_leaf(LITERALS[value], value)
    name, function = rng.choice(list(OPERATORS.items()))
    depths = [depth - 1, rng.randrange(depth)]
    rng.shuffle(depths)
    left_depth, right_depth = depths
    head = tree.add_leaf(name, NO_VALUE)
    left = _add_expression(tree, left_depth, rng)
    right = _add_expression(tree, right_depth, rng)
    pair = tree.add_internal(left, right, NO_VALUE)
    value = int(function(tree.labels[left], tree.labels[right]))
    return tree.add_internal(head, pair, value)
