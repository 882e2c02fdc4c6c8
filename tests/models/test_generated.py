"""Generated expressions are right, balanced, reproducible, and deeper when held out."""

import pytest

from models import generated
from models.dataset import generate_dataset
from models.generated import NO_VALUE, OPERATORS, generate_trees
from models.treebank import parse_tree
from models.trees import Tree


def values(tree: Tree) -> dict[int, bool]:
    """Returns the value of every node that has one, found from the words alone."""
    found: dict[int, bool] = {}
    for node, word in enumerate(tree.words):
        if word in generated.LITERALS:
            found[node] = word == "true"
        elif word == "" and tree.words[tree.left[node]] in OPERATORS:
            head, pair = tree.left[node], tree.right[node]
            left, right = found[tree.left[pair]], found[tree.right[pair]]
            found[node] = TRUTH[tree.words[head]](left, right)
    return found


TRUTH = {
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
    "implies": lambda a, b: not a or b,
    "exceeds": lambda a, b: a and not b,
}


def test_every_label_is_the_value_of_its_node():
    for tree in generate_trees(100, depths=range(5), seed=1):
        expected = values(tree)
        for node, label in enumerate(tree.labels):
            assert label == expected.get(node, NO_VALUE)


def test_the_documented_example_is_an_expression():
    tree = parse_tree("(1 (2 implies) (2 (0 false) (1 true)))")
    assert values(tree)[len(tree.words) - 1]


def test_operators_are_true_for_half_of_all_pairs():
    pairs = [(a, b) for a in (0, 1) for b in (0, 1)]
    outcomes = [bool(f(*pair)) for f in OPERATORS.values() for pair in pairs]
    assert sum(outcomes) * 2 == len(outcomes)


@pytest.mark.parametrize("depth", [0, 1, 4])
def test_a_tree_has_twice_the_depth_of_its_expression(depth):
    trees = generate_trees(20, depths=range(depth, depth + 1), seed=0)
    assert {tree.depth() for tree in trees} == {2 * depth}


def test_the_seed_decides():
    first, again, other = (generate_trees(10, range(1, 4), s) for s in (7, 7, 8))
    assert first == again
    assert first != other


def test_grouping_decides_the_value():
    left = parse_tree("(0 (2 and) (2 (1 (2 or) (2 (1 true) (0 false))) (0 false)))")
    right = parse_tree("(1 (2 or) (2 (1 true) (0 (2 and) (2 (0 false) (0 false)))))")
    assert sorted(left.words) == sorted(right.words)
    assert values(left)[len(left.words) - 1] != values(right)[len(right.words) - 1]


@pytest.mark.parametrize("seed", range(3))
def test_no_root_label_is_common_enough_to_guess(seed):
    assert generate_dataset(seed).majority() <= 0.6


def test_every_held_out_tree_is_deeper_than_all_training_trees():
    def depth(forest):
        nodes = zip(forest.left, forest.right, strict=True)
        depths = []
        for left, right in nodes:
            depths.append(0 if left < 0 else 1 + max(depths[left], depths[right]))
        return depths[-1]

    data = generate_dataset(seed=0)
    assert min(map(depth, data.held_out)) > max(map(depth, data.train))
