"""Trees that need no download: logical expressions, labeled with their values.

An expression is a literal, or an operator and a pair of expressions, so that a binary
tree holds it and an operator is a word like any other:

    (2 (1 implies) (1 (0 false) (2 true)))

The label of a node is its value, `FALSE` or `TRUE`; operators and pairs have none, and
get what is between the two. The value depends on where the brackets are: the same
words, grouped otherwise, are another expression. Together the operators are true for
half of all pairs, so that no value is common enough to guess.
"""

import operator
import random
from typing import Any

import recursive_tf as rtf
from models.running.splits import is_for_test

OPERATORS = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "implies": operator.le,
    "exceeds": operator.gt,
}
FALSE, NO_VALUE, TRUE = 0, 1, 2
NUM_CLASSES = 3
LITERALS = {"false": FALSE, "true": TRUE}


def generate_expressions(
    num_trees: int, depths: range, seed: int, split: str | None = None
) -> rtf.data.Forest:
    """Returns random expressions, the same for the same arguments.

    Args:
        num_trees: How many, e.g. 1,000.
        depths: How many operators may be nested, e.g. `range(1, 4)`. Each tree is
            given one of these depths, drawn evenly. An operator and its pair are two
            steps down, so a tree has twice the depth of its expression.
        seed: For the random generator.
        split: "dev" and "test" have no expression in common, with any two seeds. Those
            to learn from have to be of other depths.
    """
    rng = random.Random(seed)
    trees: list[dict[str, Any]] = []
    while len(trees) < num_trees:
        tree = _expression(rng.choice(depths), rng)
        if split in (None, "train") or is_for_test(str(tree)) == (split == "test"):
            trees.append(tree)
    return rtf.data.from_nested(trees)


def _expression(depth: int, rng: random.Random) -> dict[str, Any]:
    """Returns an expression in which exactly `depth` operators are nested."""
    if depth == 0:
        name = rng.choice(list(LITERALS))
        return {"token": name, "label": LITERALS[name]}
    name, function = rng.choice(list(OPERATORS.items()))
    depths = [depth - 1, rng.randrange(depth)]
    rng.shuffle(depths)
    pair = [_expression(below, rng) for below in depths]
    holds = function(*(operand["label"] == TRUE for operand in pair))
    children = [
        {"token": name, "label": NO_VALUE},
        {"label": NO_VALUE, "children": pair},
    ]
    return {"label": TRUE if holds else FALSE, "children": children}
