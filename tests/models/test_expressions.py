"""Generated expressions are right, balanced, reproducible, and deeper when held out."""

import dataclasses

import numpy as np
import pytest

from models.sentiment.expressions import (
    FALSE,
    LITERALS,
    NO_VALUE,
    OPERATORS,
    TRUE,
    generate_expressions,
)
from models.sentiment.trees import read_trees
from models.tree_lstm import GENERATED
from recursive_tf.data.measures import depths


def pair(label, left, right):
    return {"label": label, "children": [left, right]}


def word(token, label):
    return {"token": token, "label": label}


def value(tree):
    """Returns the value of an expression, found from its words alone."""
    if tree.get("token") in LITERALS:
        return tree["token"] == "true"
    head, operands = tree["children"]
    return TRUTH[head["token"]](*map(value, operands["children"]))


TRUTH = {
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
    "implies": lambda a, b: not a or b,
    "exceeds": lambda a, b: a and not b,
}
LEFT = pair(
    FALSE,
    word("and", NO_VALUE),
    pair(
        NO_VALUE,
        pair(
            TRUE,
            word("or", NO_VALUE),
            pair(NO_VALUE, word("true", TRUE), word("false", FALSE)),
        ),
        word("false", FALSE),
    ),
)
RIGHT = pair(
    TRUE,
    word("or", NO_VALUE),
    pair(
        NO_VALUE,
        word("true", TRUE),
        pair(
            FALSE,
            word("and", NO_VALUE),
            pair(NO_VALUE, word("false", FALSE), word("false", FALSE)),
        ),
    ),
)


def check(tree):
    """Checks the labels of an expression and of all in it."""
    assert tree["label"] == (TRUE if value(tree) else FALSE)
    if "children" in tree:
        head, operands = tree["children"]
        assert head["label"] == operands["label"] == NO_VALUE
        for operand in operands["children"]:
            check(operand)


def test_every_label_is_the_value_of_its_node():
    for tree in generate_expressions(100, depths=range(5), seed=1).to_nested():
        check(tree)


def test_operators_are_true_for_half_of_all_pairs():
    pairs = [(a, b) for a in (0, 1) for b in (0, 1)]
    outcomes = [bool(f(*pair)) for f in OPERATORS.values() for pair in pairs]
    assert sum(outcomes) * 2 == len(outcomes)


@pytest.mark.parametrize("depth", [0, 1, 4])
def test_a_tree_has_twice_the_depth_of_its_expression(depth):
    trees = generate_expressions(20, depths=range(depth, depth + 1), seed=0)
    assert set(depths(trees)) == {2 * depth}


def test_the_seed_decides():
    first, again, other = (generate_expressions(10, range(1, 4), s) for s in (7, 7, 8))
    assert first == again
    assert first.to_nested() != other.to_nested()


def test_grouping_decides_the_value():
    def words(tree):
        below = [w for child in tree.get("children", []) for w in words(child)]
        return [tree["token"]] if "token" in tree else below

    check(LEFT)
    check(RIGHT)
    assert sorted(words(LEFT)) == sorted(words(RIGHT))
    assert value(LEFT) != value(RIGHT)


def generated(split, seed=0):
    return read_trees(dataclasses.replace(GENERATED, seed=seed), split)


@pytest.mark.parametrize("seed", range(3))
def test_no_root_label_is_common_enough_to_guess(seed):
    trees = generated("dev", seed)
    labels = trees.labels.numpy()[trees.roots.numpy()]
    assert np.bincount(labels).max() <= 0.6 * len(trees)


def test_every_held_out_tree_is_deeper_than_all_training_trees():
    deepest = max(depths(generated("train")))
    assert all(min(depths(generated(split))) > deepest for split in ("dev", "test"))


def test_splits_are_different_trees():
    assert generated("dev").to_nested() != generated("test").to_nested()
