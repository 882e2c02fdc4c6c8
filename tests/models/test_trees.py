"""Trees grow bottom-up, and a batch of them is one forest."""

import numpy as np

from models.treebank import parse_tree
from models.trees import NO_CHILD, Forest, Tree, join
from models.vocabulary import UNKNOWN_TOKEN, Vocabulary

FILM = "(3 (2 A) (3 (3 lovely) (2 film)))"
ONE_WORD = "(4 Bravo)"


def encode(*texts: str) -> list[Forest]:
    trees = [parse_tree(text) for text in texts]
    vocabulary = Vocabulary(trees)
    return [vocabulary.encode(tree) for tree in trees]


def test_the_root_is_the_last_node_and_children_come_before_it():
    tree = parse_tree(FILM)
    assert tree.words == ["A", "lovely", "film", "", ""]
    assert tree.left == [NO_CHILD, NO_CHILD, NO_CHILD, 1, 0]
    assert tree.right == [NO_CHILD, NO_CHILD, NO_CHILD, 2, 3]
    assert tree.labels == [2, 3, 2, 3, 3]


def test_depth_counts_edges():
    assert parse_tree(ONE_WORD).depth() == 0
    assert parse_tree(FILM).depth() == 2


def test_depth_of_a_chain_needs_no_stack():
    tree = Tree()
    root = tree.add_leaf("a", 0)
    for _ in range(100_000):
        root = tree.add_internal(root, tree.add_leaf("a", 0), 0)
    assert tree.depth() == 100_000


def test_join_shifts_children_and_roots_but_not_leaves():
    forest = join(encode(ONE_WORD, FILM))
    np.testing.assert_array_equal(forest.left, [-1, -1, -1, -1, 2, 1])
    np.testing.assert_array_equal(forest.right, [-1, -1, -1, -1, 3, 4])
    np.testing.assert_array_equal(forest.roots, [0, 5])
    np.testing.assert_array_equal(forest.labels, [4, 2, 3, 2, 3, 3])
    assert forest.num_nodes == 6


def test_join_of_joins_is_the_join_of_all():
    a, b, c = encode(FILM, ONE_WORD, FILM)
    for expected, actual in zip(join([a, b, c]), join([join([a, b]), c]), strict=True):
        np.testing.assert_array_equal(expected, actual)


def test_join_keeps_int32():
    assert {array.dtype for array in join(encode(FILM, ONE_WORD))} == {np.dtype("i4")}


def test_equal_words_have_equal_tokens_and_others_are_unknown():
    vocabulary = Vocabulary([parse_tree("(0 (0 no) (0 (0 no) (0 yes)))")])
    tokens = vocabulary.encode(parse_tree("(0 (0 yes) (0 (0 never) (0 no)))")).tokens
    assert tokens[0] == 2
    assert tokens[1] == UNKNOWN_TOKEN
    assert tokens[2] == 1
    assert len(vocabulary) == 3


def test_a_saved_vocabulary_has_the_word_of_each_token_on_its_line(tmp_path):
    Vocabulary([parse_tree(FILM)]).save(tmp_path / "vocabulary.txt")
    lines = (tmp_path / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
    assert lines == ["<unknown>", "A", "lovely", "film"]
