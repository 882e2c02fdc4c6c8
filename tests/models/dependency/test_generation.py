"""Trees that a model makes: valid, the same in both executors, within limits."""

import numpy as np
import pytest
import tensorflow as tf

from models.dependency.generator import Generator
from models.dependency.limits import Limits
from recursive_tf.data import Forest
from tests.models.dependency.equations import Equations, size_of, tree_of
from tests.models.dependency.sentences import (
    HEADS,
    WORDS,
    heads_and_words,
    random_model,
    randomize,
    sentences,
)

pytestmark = pytest.mark.slow
CELLS = pytest.mark.parametrize("left_dependents", [False, True])
SMALL = Limits(max_depth=6, max_nodes=200)


def arrays(forest):
    return [
        forest.tokens,
        forest.roots,
        forest.sizes,
        forest.children.values,
        forest.children.row_splits,
        forest.features["cut"],
    ]


def assert_equal(forest, other):
    for one, two in zip(arrays(forest), arrays(other), strict=True):
        np.testing.assert_array_equal(one, two)


def differ(forest, other):
    return forest.to_nested() != other.to_nested()


def generator(executor="batched", seed=0, left_dependents=False, **choices):
    model = random_model(seed, left_dependents=left_dependents)
    choices.setdefault("limits", SMALL)
    return Generator(model, executor=executor, **choices)


@pytest.mark.parametrize(
    "left_dependents", [False, pytest.param(True, marks=pytest.mark.large)]
)
def test_both_executors_make_the_same_trees(left_dependents):
    batched, dataflow = (
        generator(executor, left_dependents=left_dependents)
        for executor in ("batched", "dataflow")
    )
    trees = batched.generate(30, seed=4).validate()
    assert len(trees) == 30
    assert len(set(trees.sizes.numpy())) > 3  # They are not all alike.
    assert_equal(trees, dataflow.generate(30, seed=4))
    completed = batched.complete(sentences(), seed=4).validate()
    assert_equal(completed, dataflow.complete(sentences(), seed=4))


def test_a_seed_decides():
    made = generator()
    trees = made.generate(10, seed=1)
    others = made.generate(10, seed=2)
    assert_equal(trees, made.generate(10, seed=1))
    assert differ(trees, others)
    completed = made.complete(sentences(), seed=1)
    assert_equal(completed, made.complete(sentences(), seed=1))
    assert differ(completed, made.complete(sentences(), seed=2))


def test_the_first_trees_do_not_depend_on_how_many_there_are():
    made = generator()
    few, many = (made.generate(count, seed=1) for count in (3, 12))
    assert few.to_nested() == many[:3].to_nested()


@CELLS
@pytest.mark.parametrize("executor", ["batched", "dataflow"])
def test_greedy_is_the_likeliest_word_and_edge_each_time(executor, left_dependents):
    model, tree = likeliest_tree(left_dependents)
    found = Generator(model, greedy=True, executor=executor).generate(1)
    assert tree_at_root(found[0]) == tree
    assert not found.features["cut"].numpy().any()


def likeliest_tree(left_dependents):
    """Returns a model whose likeliest tree is not endless, and the tree.

    In it some word has dependents on both sides.
    """
    model = random_model(left_dependents=left_dependents)
    for seed in range(500):
        randomize(model, seed, scale=2.0)
        tree = Equations(model).greedy(most=30)
        if tree is not None and has_both_sides(tree):
            return model, tree
    raise AssertionError("no such model")


def has_both_sides(tree):
    _, left, right = tree
    return bool(left and right) or any(map(has_both_sides, left + right))


def test_words_are_drawn_as_probable_as_they_are():
    made = generator(limits=Limits(max_nodes=1))
    count = 8000
    words = made.generate(count, seed=3).tokens.numpy()
    equations = Equations(made._model)
    expected = np.exp(equations.word_scores(equations.start()))
    shares = np.bincount(words, minlength=len(expected)) / count
    error = np.sqrt(expected * (1 - expected) / count)
    assert (np.abs(shares - expected) <= 4 * error).all()


@pytest.mark.large
def test_edges_are_drawn_as_probable_as_they_are():
    made = generator(limits=Limits(max_depth=0))
    count = 8000
    cut = made.generate(count, seed=3).features["cut"].numpy()
    equations = Equations(made._model)
    start = equations.start()
    words = np.exp(equations.word_scores(start))
    odds = [equations.edge_logits(start, word)[:2] for word in range(len(words))]
    expected = float(words @ (1 / (1 + np.exp(-np.array(odds)))).sum(axis=1))
    assert abs(cut.mean() - expected) < 4 * cut.std() / count**0.5


# --- Limits


def always(edges, **choices):
    """Returns a generator of a model that adds some types of edges wherever it may."""
    made = generator(**choices)
    cell = made._model.cell
    cell.of_edges.kernel.assign(tf.zeros_like(cell.of_edges.kernel))
    cell.of_edges.bias.assign([50.0 if on else -50.0 for on in edges])
    return made


@pytest.mark.parametrize("max_nodes", [1, 2, 3, 17, 100])
def test_a_tree_never_has_more_words_than_it_may(max_nodes):
    made = always([True] * 4, limits=Limits(1000, max_nodes))
    trees = made.generate(3).validate()
    assert trees.sizes.numpy().tolist() == [max_nodes] * 3
    # Who has no room for a wanted edge says so: two of a root, three of a dependent.
    per_tree = (max_nodes * 3 - 1) - (max_nodes - 1)
    assert trees.features["cut"].numpy().sum() == 3 * per_tree


def test_words_at_the_greatest_depth_have_no_dependents():
    made = always([True, True, False, False], limits=Limits(3, 1000))
    trees = made.generate(2).validate()
    assert trees.sizes.numpy().tolist() == [15, 15]  # Two dependents each.
    cut = trees.features["cut"].numpy()
    leaves = trees.is_leaf.numpy()
    assert cut.tolist() == np.where(leaves, 2, 0).tolist()


def test_siblings_are_no_deeper_than_each_other():
    made = always([False, True, False, True], limits=Limits(1, 20))
    trees = made.generate(1)
    assert trees.children.row_lengths().numpy().tolist() == [19] + [0] * 19


def test_limits_leave_trees_alone_that_they_do_not_reach():
    few, many = (
        generator(limits=Limits(8, places)).generate(60, seed=6)
        for places in (100, 5000)
    )
    is_whole = [not tree.features["cut"].numpy().any() for tree in few]
    whole = [trees[is_whole] for trees in (few, many)]
    assert whole[0].to_nested() == whole[1].to_nested()
    assert int(whole[0].num_nodes) > len(whole[0]) > 3
    assert int(few.num_nodes) < int(many.num_nodes)


@pytest.mark.parametrize(
    ("limits", "num_trees"),
    [(Limits(-1, 5), 1), (Limits(2, 0), 1), (Limits(), 0), (Limits(2, 2**20), 2**11)],
)
def test_impossible_limits_are_an_error(limits, num_trees):
    with pytest.raises(ValueError, match="max_nodes"):
        generator(limits=limits).generate(num_trees)


# --- Completion


@CELLS
@pytest.mark.parametrize("limits", [SMALL, Limits(0, 1)])
def test_a_prefix_stays_as_it_is(limits, left_dependents):
    made = generator(left_dependents=left_dependents, limits=limits)
    for seed in range(3):
        completed = made.complete(sentences(), seed)
        for given, tree in zip(sentences(), completed.validate(), strict=True):
            assert contains(tree_at_root(tree), tree_at_root(given))


def tree_at_root(tree):
    heads, words = heads_and_words(tree)
    return tree_of(heads, words, int(tree.roots))


def contains(tree, prefix):
    """Says whether a tree begins with another: the nearest dependents are the same."""
    return tree[0] == prefix[0] and all(
        len(below) >= len(given) and all(map(contains, below, given))
        for below, given in zip(tree[1:], prefix[1:], strict=True)
    )


def test_nothing_is_added_to_a_prefix_that_is_as_large_as_a_tree_may_be():
    completed = always([True] * 4, limits=Limits(100, 4)).complete(sentences())
    assert completed.sizes.numpy().tolist() == [9, 4]
    assert heads_and_words(completed[:1]) == (HEADS[:9], WORDS[:9])


def test_a_model_that_adds_nothing_completes_nothing():
    completed = always([False] * 4).complete(sentences())
    assert heads_and_words(completed) == (HEADS, WORDS)
    assert not completed.features["cut"].numpy().any()


def test_a_model_goes_on_after_the_last_dependent_on_either_side():
    made = always([False, False, True, True], limits=Limits(20, 12))
    grown = tree_at_root(made.complete(sentences()[:1])[0])
    # Three more words than the prefix, and those on the sides where dependents are.
    assert size_of(grown) == 12
    given = tree_at_root(sentences()[0])
    assert contains(grown, given)
    assert grown != given


def test_a_root_is_a_prefix():
    made = generator()
    children = tf.ragged.constant([[], []], dtype=tf.int32)
    roots = Forest(tokens=[5, 7], children=children, roots=[0, 1], sizes=[1, 1])
    trees = made.complete(roots, seed=2).validate()
    assert tf.gather(trees.tokens, trees.roots).numpy().tolist() == [5, 7]
    assert int(trees.num_nodes) > 2


def test_edges_that_cross_stay():
    children = tf.ragged.constant([[3], [0, 2], [], []], dtype=tf.int32)
    crossing = Forest(tokens=[5, 6, 7, 8], children=children, roots=[1], sizes=[4])
    (tree,) = always([False] * 4).complete(crossing).validate()
    assert tree_at_root(tree) == tree_at_root(crossing[0])
    assert tree.tokens.numpy().tolist() == [5, 8, 6, 7]
