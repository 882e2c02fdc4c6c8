"""A forest is made of arrays, and its trees are taken as rows of a tensor are."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.data import Forest, ForestError, concat, in_memory
from tests.data.examples import BRANCHES, assert_same, forest

both_links = pytest.mark.parametrize("binary", [True, False])


def test_nodes_are_numbered_through_all_trees():
    trees = Forest(
        tokens=["a", "b", "", "c"],
        left=[-1, -1, 0, -1],
        right=[-1, -1, 1, -1],
        roots=[2, 3],
        sizes=[3, 1],
    )
    assert trees.to_nested() == [["a", "b"], "c"]
    assert (int(trees.num_trees), int(trees.num_nodes)) == (2, 4)
    np.testing.assert_array_equal(trees.row_splits, [0, 3, 4])
    np.testing.assert_array_equal(trees.is_leaf, [True, True, False, True])


def test_ids_of_any_integer_dtype_become_int32():
    tree = Forest(
        tokens=[1],
        left=np.array([-1], np.int64),
        right=tf.constant([-1], tf.int64),
        roots=np.int64(0),
    )
    assert {tree.left.dtype, tree.right.dtype, tree.roots.dtype} == {tf.int32}


@both_links
def test_a_number_takes_one_tree(binary):
    trees = forest(binary)
    assert trees[2].shape == []
    assert trees[2].to_nested() == trees.to_nested()[2]
    assert_same(trees[-1], trees[4])
    assert_same(trees[np.int64(1)], trees[tf.constant(1)])


@both_links
def test_several_numbers_take_a_batch_in_their_order(binary):
    trees = forest(binary)
    nested = trees.to_nested()
    assert trees[[3, 0, 3]].to_nested() == [nested[3], nested[0], nested[3]]
    assert trees[np.array([-1, 1])].to_nested() == [nested[4], nested[1]]
    assert trees[tf.constant([2], tf.int64)].to_nested() == [nested[2]]
    assert len(trees[[]]) == 0


@both_links
@pytest.mark.parametrize(
    "cut", [slice(1, 3), slice(None, None, -1), slice(-2, None), slice(9, None)]
)
def test_a_slice_takes_what_it_takes_of_a_list(binary, cut):
    trees = forest(binary)
    assert trees[cut].to_nested() == trees.to_nested()[cut]


def test_a_mask_takes_the_trees_where_it_is_true():
    trees = forest()
    assert_same(trees[[True, False, False, True, False]], trees[[0, 3]])
    assert_same(trees[trees.sizes > 4], trees[[0, 2, 4]])


def test_indices_may_be_tensors_of_a_function():
    trees = forest()

    @tf.function
    def take(i):
        return trees[i], trees[i + 1], trees[tf.stack([i, 0])]

    tree, following, batch = take(tf.constant(2))
    assert_same(tree, trees[2])
    assert_same(following, trees[3])
    assert_same(batch, trees[[2, 0]])


@pytest.mark.parametrize("chosen", [[4, 0, 4, -1], [2], []])
def test_trees_of_numbers_are_taken_as_in_a_function(chosen):
    trees = rtf.data.generate("random", 5, words=range(1, 7), seed=3)
    trees = trees.replace(features={"row": tf.random.normal([trees.num_nodes, 2])})
    assert in_memory.is_in_memory(trees)
    taken = trees[chosen]
    assert_same(taken, tf.function(lambda i: trees[i])(tf.constant(chosen, tf.int32)))
    assert len(taken.validate()) == len(chosen)


def test_iteration_yields_trees():
    trees = forest()
    assert [tree.to_nested() for tree in trees] == trees.to_nested()
    assert len(list(trees[:0])) == 0


def test_joining_what_was_taken_apart_gives_it_back():
    trees = forest()
    assert_same(concat(list(trees)), trees)
    assert_same(concat([trees[:2], trees[2], trees[3:]]), trees)


def test_children_of_a_binary_forest_are_lists_and_back():
    trees = forest(binary=True)
    lists = trees.with_children()
    assert_same(lists, forest(binary=False))
    assert_same(lists.with_left_right(), trees)
    assert lists.with_children() is lists
    assert trees.with_left_right() is trees


def test_a_node_with_one_child_has_no_left_one():
    lists = rtf.data.from_nested([[["a"], "b"]])
    with pytest.raises(ForestError, match="Every node must have no child or two"):
        lists.with_left_right()


def test_a_left_child_may_be_alone():
    tree = Forest(tokens=[1, 2], left=[-1, 0], right=[-1, -1], roots=1)
    assert tree.with_children().children.to_list() == [[], [0]]
    assert tree.validate() is tree


def test_what_a_forest_shows_is_what_it_is_made_of():
    assert repr(forest()) == (
        "<Forest of 5 trees, 27 nodes: tokens string, labels int32, vector float32, "
        "name string; left, right\n"
        "  (1 (0 a) (0 (1 b) (2 c)))\n"
        "  (2 d)\n"
        "  (2 (2 (0 e) (1 f)) (1 (0 g) (0 (1 h) (2 i))))\n"
        "  ...>"
    )
    assert repr(rtf.data.from_nested(BRANCHES, binary=False)[0]) == (
        "<Tree, 5 nodes: tokens string; children\n  (a (b c))>"
    )


def test_a_forest_without_values_shows_its_arrays():
    shown = []
    tf.function(lambda trees: shown.append(repr(trees)))(forest())
    assert shown == [
        "<Forest without values: tokens string, labels int32, vector float32, "
        "name string; left, right>"
    ]


def test_a_long_tree_is_cut():
    line = repr(rtf.data.from_nested([["word"] * 50])).splitlines()[1]
    assert line.endswith("...>")
    assert len(line) < 88


def test_a_forest_that_is_not_valid_shows_why():
    """One shows a forest to find what is wrong with it."""
    wrong = Forest(tokens=[1, 2], left=[-1, 7], right=[-1, 0], roots=[1], sizes=[2])
    assert "\n  not valid: tree 0, node 1 has the child 7" in repr(wrong)
    cycle = Forest(tokens=[1, 2], left=[1, 0], right=[-1, -1], roots=1)
    assert "not valid" in repr(cycle)


def test_forests_with_the_same_values_are_equal():
    assert forest() == forest()
    assert forest() != forest().replace(labels=None)
    assert forest() != forest()[::-1]


LEAF = {"tokens": [7], "left": [-1], "right": [-1]}


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({"tokens": [7], "roots": 0}, r"left and right, or of children. Got \[\]"),
        ({"tokens": [7], "left": [-1], "roots": 0}, r"Got \['left'\]"),
        (
            {**LEAF, "children": [[]], "roots": 0},
            r"Got \['left', 'right', 'children'\]",
        ),
        ({**LEAF, "roots": [0]}, "A batch needs sizes"),
        ({**LEAF, "roots": [0], "sizes": [1, 1]}, r"a size for each root.*\(2,\)"),
        ({**LEAF, "roots": [[0]], "sizes": [[1]]}, r"\[num_trees\] for a batch"),
        ({**LEAF, "roots": 0.5}, "roots must be whole numbers"),
        (
            {**LEAF, "left": [-1, -1], "roots": 0},
            r"1 tokens.*left has the shape \(2,\)",
        ),
        ({**LEAF, "roots": 0, "labels": [1, 2]}, r"labels has the shape \(2,\)"),
        ({**LEAF, "roots": 0, "features": {"pos": [1, 2]}}, "pos has the shape"),
        ({**LEAF, "tokens": [[7]], "roots": 0}, r"tokens must have the shape"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays, complaint):
    with pytest.raises(ForestError, match=complaint):
        Forest(**arrays)


def test_a_tree_that_is_not_there_is_named():
    for index in (5, [0, 5], tf.constant(5)):
        with pytest.raises(IndexError, match="no tree 5: there are 5"):
            forest()[index]
    with pytest.raises(IndexError, match="one bool a tree"):
        forest()[[True]]


def test_what_is_no_index_is_refused():
    with pytest.raises(TypeError, match="by a number, a slice, or a vector"):
        forest()[0.5]
    with pytest.raises(TypeError, match="by a number, a slice, or a vector"):
        forest()[[[0]]]
    with pytest.raises(ForestError, match="one tree, and not a batch"):
        forest()[0][0]


def test_the_wrong_links_say_which_there_are():
    with pytest.raises(ForestError, match=r"any number of children, and no left one"):
        _ = forest(binary=False).left
    with pytest.raises(ForestError, match=r"a left and a right child.*with_children"):
        _ = forest(binary=True).children


def test_only_forests_of_the_same_arrays_are_joined():
    with pytest.raises(ForestError, match="must have the same arrays"):
        concat([forest(), forest().replace(labels=None)])
    with pytest.raises(ForestError, match="at least one"):
        concat([])


@pytest.mark.parametrize("put", [tf.stack, lambda forests: tf.concat(forests, 0)])
def test_forests_are_put_together_by_their_own_function(put):
    one = forest()
    for forests in ([one, one], [one[0], one[0]], (one,)):
        with pytest.raises(ForestError, match=r"rtf\.data\.concat"):
            put(forests)
