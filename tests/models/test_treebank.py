"""The reader takes the bracketed form, and says where a file departs from it."""

import pytest

from models.treebank import TreebankError, parse_tree, read_trees


def test_brackets_may_touch_words_and_spaces_may_repeat():
    assert parse_tree(" (1(2 a)  (0 b) )\n").labels == [2, 0, 1]


def test_an_escaped_slash_is_part_of_its_word():
    assert parse_tree(r"(2 Singer\/composer)").words == [r"Singer\/composer"]


def test_a_no_break_space_is_part_of_its_word():
    assert parse_tree("(2 8\u00a01/2)").words == ["8\u00a01/2"]


def test_a_digit_may_be_a_word():
    assert parse_tree("(2 3)").words == ["3"]


def test_depth_is_no_limit():
    depth = 20_000
    tree = parse_tree("(0 " * depth + "(0 a)" + " (0 b))" * depth)
    assert tree.depth() == depth


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("(3 (2 a) (3 b)", r"1 brackets are still open at the end"),
        ("(3 (2 a) (3 b)))", r"'\)' after the end of the tree"),
        ("(1 a) (1 b)", r"'\(' after the end of the tree"),
        ("(good film)", r"'good' where a label belongs"),
        ("(3 (2 a) (", r"'the end of the line' where a label belongs"),
        ("film", r"'film' outside of all brackets"),
        ("(3 (2 a))", r"label 3 and 1 parts"),
        ("(3 (2 a) (2 b) (2 c))", r"label 3 and 3 parts"),
        ("(3 a (2 b))", r"label 3 and 2 parts"),
        ("(3)", r"label 3 and 0 parts"),
    ],
)
def test_a_line_that_is_not_a_tree_is_refused(text, complaint):
    with pytest.raises(TreebankError, match=complaint) as error:
        parse_tree(text)
    assert "a tree is '(label word)' or '(label tree tree)'" in str(error.value)


def test_an_error_names_the_file_and_the_line(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("(1 a)\n\n(1 b\n")
    with pytest.raises(TreebankError, match=r"train\.txt, line 3: 1 brackets"):
        read_trees(path)


def test_blank_lines_are_left_out(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("\n(1 a)\n\n(1 b)\n")
    assert [tree.words for tree in read_trees(path)] == [["a"], ["b"]]


def test_a_missing_file_says_what_was_expected(tmp_path):
    with pytest.raises(TreebankError, match=r"dev\.txt does not exist\. Expected"):
        read_trees(tmp_path / "dev.txt")


def test_a_file_without_trees_is_refused(tmp_path):
    path = tmp_path / "dev.txt"
    path.write_text("\n")
    with pytest.raises(TreebankError, match=r"is empty\. Expected one tree a line"):
        read_trees(path)
