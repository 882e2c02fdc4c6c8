"""Generated trees have the shape that was asked for, and the seed decides."""

import numpy as np
import pytest

from recursive_tf.data import ForestError, generate, generate_from_grammar
from recursive_tf.data.measures import depths
from tests.data.examples import assert_same

SHAPES = ["balanced", "moderate", "linear", "random"]


@pytest.mark.parametrize("shape", SHAPES)
def test_trees_of_any_shape_have_as_many_words_as_asked(shape):
    forest = generate(shape, 20, words=9, vocabulary=7, classes=3).validate()
    is_leaf = forest.is_leaf.numpy()
    np.testing.assert_array_equal(forest.sizes, 17)
    assert is_leaf.sum() == 20 * 9
    assert set(forest.tokens.numpy()[is_leaf]) == set(range(7))
    assert set(forest.tokens.numpy()[~is_leaf]) == {-1}
    assert set(forest.labels.numpy()) == {0, 1, 2}


def test_shapes_differ_in_depth():
    depth = {shape: depths(generate(shape, 30, words=64)) for shape in SHAPES}
    assert set(depth["balanced"]) == {6}
    assert set(depth["linear"]) == {63}
    assert all(6 < d < 15 for d in depth["moderate"])
    assert depth["moderate"].mean() < depth["random"].mean() < 40


def test_the_number_of_words_may_be_drawn():
    forest = generate("random", 100, words=range(1, 6))
    assert set(forest.sizes.numpy()) == {1, 3, 5, 7, 9}


def test_the_seed_decides():
    assert_same(generate("random", 5, seed=3), generate("random", 5, seed=3))
    assert generate("random", 5, seed=3) != generate("random", 5, seed=4)


def test_depth_is_no_limit():
    assert depths(generate("linear", 1, words=50_001)) == [50_000]


@pytest.mark.parametrize(
    ("choices", "complaint"),
    [
        ({"shape": "round"}, r"no shape 'round'. Expected one of \['balanced'"),
        ({"num_trees": 0}, "must be at least 1. Got 0, 19"),
        ({"words": 0}, "must be at least 1"),
        ({"words": range(3, 3)}, "must be at least 1"),
        ({"words": range(3)}, "must be at least 1"),
    ],
)
def test_what_cannot_be_generated_is_refused(choices, complaint):
    with pytest.raises(ForestError, match=complaint):
        generate(**{"shape": "linear", "num_trees": 1, **choices})


GRAMMAR = {
    "S": [(1, ["NP", "VP"])],
    "NP": [(3, ["DT", "NN"]), (1, ["NP", "PP"])],
    "PP": [(1, ["with", "NP"])],
    "VP": [(1, ["VB", "NP"]), (1, ["VB"])],
    "DT": [(1, ["the"]), (1, ["a"])],
    "NN": [(1, ["dog"]), (2, ["cat"])],
    "VB": [(1, ["sees"])],
}


def test_every_node_of_a_grammars_tree_follows_a_rule():
    forest = generate_from_grammar(GRAMMAR, 50).validate()

    def check(node):
        if isinstance(node, str):
            return node
        parts = [check(child) for child in node.get("children", [])]
        parts = parts or [node["token"]]
        assert parts in [list(rule) for _, rule in GRAMMAR[node["label"]]]
        return node["label"]

    assert {check(tree) for tree in forest.to_nested()} == {"S"}


def test_weights_of_rules_are_kept():
    words = generate_from_grammar(GRAMMAR, 500, seed=1).tokens.numpy().tolist()
    assert 1.6 < words.count(b"cat") / words.count(b"dog") < 2.4


def test_a_grammar_that_grows_is_cut_at_a_depth():
    grammar = {"S": [(9, ["S", "S"]), (1, ["A"])], "A": [(1, ["a"])]}
    forest = generate_from_grammar(grammar, 5, max_depth=6)
    assert depths(forest).max() <= 8
    assert depths(forest).max() >= 6


def test_a_grammar_without_an_end_is_refused():
    with pytest.raises(ForestError, match="The rules of 'S' never end"):
        generate_from_grammar({"S": [(1, ["S", "a"])]}, 1)
    with pytest.raises(ForestError, match="no rules for the start symbol 'X'"):
        generate_from_grammar(GRAMMAR, 1, start="X")
