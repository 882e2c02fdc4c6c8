"""Nested lists become forests and come back, however deep they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recursive_tf.data import ForestError, from_nested

WORDS = st.text(min_size=1, max_size=5)


def trees_of(token, lists):
    return st.recursive(token, lists, max_leaves=20)


binary_trees = trees_of(WORDS, lambda below: st.lists(below, min_size=2, max_size=2))
lists_of_numbers = trees_of(
    st.integers(0, 99), lambda below: st.lists(below, min_size=1, max_size=4)
)


def nodes(below):
    return st.fixed_dictionaries(
        {"token": WORDS, "label": st.integers(0, 4), "weight": st.integers(0, 9)},
        optional={"children": st.lists(below, min_size=1, max_size=3)},
    )


@given(st.lists(binary_trees, min_size=1, max_size=4))
def test_binary_trees_come_back(trees):
    forest = from_nested(trees)
    assert forest.is_binary
    assert forest.validate().to_nested() == trees
    assert forest.with_children().to_nested() == trees


@given(st.lists(lists_of_numbers, min_size=1, max_size=4))
def test_lists_of_any_length_come_back(trees):
    forest = from_nested(trees, binary=False)
    assert forest.validate().to_nested() == trees
    assert [tree.to_nested() for tree in forest] == trees


@given(st.lists(st.recursive(nodes(st.nothing()), nodes), min_size=1, max_size=3))
def test_dictionaries_with_labels_and_features_come_back(trees):
    forest = from_nested(trees)
    assert forest.validate().to_nested() == trees
    assert set(forest.features) == {"weight"}


def test_what_only_some_nodes_have_is_missing_at_the_others():
    forest = from_nested([["a", {"token": "b", "pos": "N", "label": 3}], "c"])
    assert forest.labels.numpy().tolist() == [-1, 3, -1, -1]
    assert forest.features["pos"].numpy().tolist() == [b"", b"N", b"", b""]


def test_a_list_of_two_is_binary_unless_asked_otherwise():
    assert from_nested([["a", "b"]]).is_binary
    assert not from_nested([["a", "b"]], binary=False).is_binary
    assert not from_nested([["a"]]).is_binary
    with pytest.raises(ForestError, match=r"tree 1, node 4 has 3 children"):
        from_nested(["a", ["b", "c", "d"]], binary=True)


def test_depth_and_size_are_no_limit():
    tree = "a"
    for _ in range(50_000):
        tree = [tree, "b"]
    forest = from_nested([tree])
    assert int(forest.num_nodes) == 100_001
    [back] = forest.validate().to_nested()
    for _ in range(50_000):
        back, right = back
        assert right == "b"
    assert back == "a"


def test_text_of_any_language_and_bytes_of_none_are_kept():
    trees = [["café", "北京"], [b"\xff\xfe", "🌲"]]
    assert from_nested(trees).to_nested() == trees


@pytest.mark.parametrize(
    ("tree", "complaint"),
    [
        ([], r"tree 1: the root is \[\]"),
        (["a", ["b", []]], r"tree 1: the node \[1\]\[1\] is \[\]"),
        (["a", None], r"tree 1: the node \[1\] is None. Expected: a node is a token"),
        ({"children": [{1: 2}]}, r"the node \[0\] is \{1: 2\}"),
        (["a", 1], r"tokens must be of one type in all nodes. Got int, str"),
    ],
)
def test_what_is_no_node_is_refused_with_its_place(tree, complaint):
    with pytest.raises(ForestError, match=complaint):
        from_nested(["a", tree])


def test_a_list_that_contains_itself_is_refused():
    tree = ["a", ["b"]]
    tree[1].append(tree)
    with pytest.raises(ForestError, match=r"the node \[1\]\[1\] contains itself"):
        from_nested([tree])


def test_a_list_in_two_places_is_two_nodes():
    pair = ["a", "b"]
    assert int(from_nested([[pair, pair]]).num_nodes) == 7


@pytest.mark.parametrize(
    "node",
    [{"token": 2**31}, {"token": 1, "label": 2**40}, {"token": 1, "id": -(2**31) - 1}],
    ids=["token", "label", "feature"],
)
def test_a_number_too_large_for_its_dtype_is_an_error(node):
    with pytest.raises(ForestError, match=r"is too large for int32"):
        from_nested([[node, node]])


@pytest.mark.parametrize("tree", ["abc", b"abc", {"token": "a"}])
def test_one_tree_in_place_of_a_list_is_an_error(tree):
    with pytest.raises(ForestError, match=r"say from_nested\(\[tree\]\)"):
        from_nested(tree)


@pytest.mark.parametrize("key", ["token", "label", "weight"])
def test_a_vector_of_a_node_is_refused_with_the_way_out(key):
    with pytest.raises(ForestError, match=rf"{key}.* of each node\. Got list.*replace"):
        from_nested([{"token": "a", "label": 1} | {key: [1, 0]}])
