"""Generated expressions are right, balanced, reproducible, and deeper when held out."""

import pytest

from models import generated
from models.dataset import generate_dataset
from models.generated import NO_VALUE, OPERATORS, generate_expressions
from recursive_tf.data.measures import depths


def pair(label, left, right):
    return {"label": label, "children": [left, right]}


def word(token, label):
    return {"token": token, "label": label}


def value(tree):
    """Returns the value of an expression, found from its words alone."""
    if tree.get("token") in generated.LITERALS:
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
    0,
    word("and", 2),
    pair(
        2,
        pair(1, word("or", 2), pair(2, word("true", 1), word("false", 0))),
        word("false", 0),
    ),
)
RIGHT = pair(
    1,
    word("or", 2),
    pair(
        2,
        word("true", 1),
        pair(0, word("and", 2), pair(2, word("false", 0), word("false", 0))),
    ),
)


def check(tree):
    """Checks the labels of an expression and of all in it."""
    assert tree["label"] == value(tree)
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


@pytest.mark.parametrize("seed", range(3))
def test_no_root_label_is_common_enough_to_guess(seed):
    assert generate_dataset(seed).majority() <= 0.6


def test_every_held_out_tree_is_deeper_than_all_training_trees():
    data = generate_dataset(seed=0)
    assert min(depths(data.held_out)) > max(depths(data.train))
