"""Each format is read as it is meant, and a departure is shown where it is."""

import json

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from recursive_tf.data import (
    ReadError,
    read_conllu,
    read_json,
    read_lattices,
    read_ptb,
    read_sst,
)


@pytest.fixture
def read(tmp_path):
    """Returns a function that loads a text by a reader."""

    def load(reader, text, **choices):
        path = tmp_path / "trees.txt"
        path.write_bytes(text.encode())
        return reader(path, **choices).load().validate(dag=reader is read_lattices)

    return load


def refused(read, reader, text, place, complaint, **choices):
    with pytest.raises(ReadError, match=complaint) as error:
        read(reader, text, **choices)
    assert (error.value.line, error.value.column) == place


# Brackets.


def test_a_sentiment_tree_has_a_label_and_a_word_at_each_leaf(read):
    forest = read(read_sst, " \n(1(2 a)  (0 b) )\n")
    assert forest.tokens.numpy().tolist() == [b"a", b"b", b""]
    assert forest.labels.numpy().tolist() == [2, 0, 1]
    assert forest.left.numpy().tolist() == [-1, -1, 0]


@pytest.mark.parametrize("word", [r"Singer\/composer", "8\u00a01/2", "3", "🎬"])
def test_a_word_is_all_between_spaces_and_brackets(read, word):
    assert read(read_sst, f"(2 {word})")[0].to_nested()["token"] == word


def test_penn_trees_go_over_lines_and_have_empty_brackets_around(read):
    forest = read(
        read_ptb,
        "( (S\n    (NP (DT the) (NN dog))\n    (VP (VBZ barks))\n    (. .)) )\n\n"
        "(NP (NN a)\n\tand (NN b))\n(X y)\n",
    )
    shown = repr(forest).splitlines()[1:]
    assert [line.strip() for line in shown] == [
        "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))",
        "(NP (NN a) and (NN b))",
        "(X y)>",
    ]


@pytest.mark.parametrize(
    ("text", "place", "complaint"),
    [
        (
            "(3 (2 a) (3 b)",
            (1, 15),
            r"2 brackets open|1 brackets open.*line 1, column 1",
        ),
        ("(3 (2 a) (3 b)))", (1, 16), r"'\)' after the end of the tree"),
        ("(1 a) (1 b)", (1, 7), r"'\(' after the end of the tree"),
        ("(1 a)\n(good film)", (2, 2), r"'good' where a label belongs"),
        ("(3 (2 a) ((", (1, 11), r"'\(' where a label belongs"),
        ("film", (1, 1), r"'film' outside of all brackets"),
        ("(3 (2 a))", (1, 1), r"label 3 and 1 parts"),
        ("(3 (2 a) (2 b) (2 c))", (1, 1), r"label 3 and 3 parts"),
        ("(2 (3 a (2 b)) (1 c))", (1, 4), r"label 3 and 2 parts"),
        ("(3)", (1, 1), r"label 3 and 0 parts"),
        ("()", (1, 1), r"label None and 0 parts"),
        ("((3 a))", (1, 2), r"'\(' where a label belongs"),
        ("(99999999999 a)", (1, 0), r"label 99999999999 is too large for int32"),
    ],
)
def test_what_is_no_sentiment_tree_is_refused(read, text, place, complaint):
    refused(read, read_sst, text, place, complaint)


@pytest.mark.parametrize(
    ("text", "place", "complaint"),
    [
        (
            "(S\n  (NP a)\n",
            (2, 9),
            r"1 brackets open, the last one since line 1, column 1",
        ),
        ("(S (NP))", (1, 4), r"label NP and 0 parts"),
        ("(S ((NP a)))", (1, 5), r"'\(' where a label belongs"),
        ("( (A a) (B b))", (1, 1), r"label None and 2 parts"),
    ],
)
def test_what_is_no_penn_tree_is_refused(read, text, place, complaint):
    refused(read, read_ptb, text, place, complaint)


bracket_words = st.text(
    st.characters(
        codec="utf-8", exclude_characters="() \t\r\n\v\f\x1c\x1d\x1e\x85\x00"
    ),
    min_size=1,
    max_size=4,
)
bracketed = st.recursive(
    st.tuples(st.integers(0, 4), bracket_words).map("({0[0]} {0[1]})".format),
    lambda below: st.tuples(st.integers(0, 4), below, below).map(
        "({0[0]} {0[1]} {0[2]})".format
    ),
    max_leaves=12,
)


@given(st.lists(bracketed, min_size=1, max_size=4))
def test_trees_in_brackets_come_back(tmp_path_factory, trees):
    path = tmp_path_factory.mktemp("brackets") / "trees.txt"
    path.write_bytes("\n".join(trees).encode())

    def brackets(node):
        inside = [node["token"]] if "token" in node else map(brackets, node["children"])
        return f"({' '.join([str(node['label']), *inside])})"

    assert list(map(brackets, read_sst(path).load().to_nested())) == trees


# Dependencies.

SENTENCE = """\
# text = They buy the books.
1-2\tTheybuy\t_\t_\t_\t_\t_\t_\t_\t_
1\tThey\tthey\tPRON\tPRP\tCase=Nom\t2\tnsubj\t_\t_
2\tbuy\tbuy\tVERB\tVBP\t_\t0\troot\t_\t_
2.1\tand\tand\t_\t_\t_\t_\t_\t_\t_
3\tthe\tthe\tDET\tDT\t_\t4\tdet\t_\t_
4\tbooks\tbook\tNOUN\tNNS\t_\t2\tobj\t_\tSpaceAfter=No
"""


def test_words_are_nodes_in_the_order_of_the_sentence(read):
    forest = read(read_conllu, f"{SENTENCE}\n{SENTENCE}\n")
    tree = forest[1]
    assert tree.tokens.numpy().tolist() == [b"They", b"buy", b"the", b"books"]
    assert tree.labels.numpy().tolist() == [b"nsubj", b"root", b"det", b"obj"]
    assert tree.children.to_list() == [[], [0, 3], [], [2]]
    assert int(tree.roots) == 1
    assert tree.features["upos"].numpy().tolist() == [b"PRON", b"VERB", b"DET", b"NOUN"]
    assert set(tree.features) == {"lemma", "upos", "xpos", "feats"}


@pytest.mark.parametrize(
    ("old", "new", "place", "complaint"),
    [
        ("\t_\t_\n2.1", "\t_\n2.1", (4, 30), "9 columns"),
        ("3\tthe", "4\tthe", (6, 1), "word '4' where word 3 belongs"),
        ("\t4\tdet", "\t9\tdet", (6, 20), "HEAD '9' of 4 words"),
        ("\t4\tdet", "\t_\tdet", (6, 20), "HEAD '_' of 4 words"),
        ("\t4\tdet", "\t0\tdet", (6, 20), "a second word with HEAD 0"),
        ("\t4\tdet", "\t3\tdet", (6, 20), "depends on itself"),
        ("\t0\troot", "\t1\troot", (1, 0), "without a word of HEAD 0"),
    ],
)
def test_what_is_no_dependency_tree_is_refused(read, old, new, place, complaint):
    assert old in SENTENCE
    refused(read, read_conllu, SENTENCE.replace(old, new), place, complaint)


# JSON.


def test_json_has_tokens_lists_and_dictionaries(read):
    forest = read(
        read_json,
        '["a", ["b", "c", "d"]]\n\n'
        '{"label": 1, "children": [{"token": "\\u00e9", "label": 2, "x": 0.5}, "f"]}\n',
        labels=tf.int32,
        features={"x": tf.float32},
    )
    assert forest[0].tokens.numpy().tolist() == [b"a", b"b", b"c", b"d", b"", b""]
    assert forest[1].labels.numpy().tolist() == [2, -1, 1]
    np.testing.assert_array_equal(forest[1].features["x"], [0.5, np.nan, np.nan])


def test_json_of_numbers_may_be_binary(read):
    forest = read(read_json, "[1, [2, 3]]", tokens=tf.int32, binary=True)
    assert forest.to_nested() == [[1, [2, 3]]]
    assert forest.is_binary


@pytest.mark.parametrize(
    ("text", "column", "complaint"),
    [
        ('["a", ', 7, r"'the end of the line' where a value belongs"),
        ('["a" "b"]', 6, r"""'"b"]' where ',' or ']' belongs"""),
        ('["a",]', 6, "where a value belongs"),
        ('["a"]]', 6, "where the end of the line belongs"),
        ('["a"}', 5, r"where ',' or '\]' belongs"),
        ('{"token": "a", 3}', 16, "where a key in quotes belongs"),
        ('{"token" "a"}', 10, "where ':' belongs"),
        ('["a", ["b", []]]', 13, r"the node \[1\]\[1\] is \[\]"),
        ('["a", ["b", null]]', 7, r"the node \[1\]\[1\] is None"),
        ('["a", 7]', 0, "the token 7 is not string"),
        ('["\\ud800"]', 0, "is no Unicode text"),
        ("hello", 1, "where a value belongs"),
    ],
)
def test_what_is_no_tree_in_json_is_refused(read, text, column, complaint):
    refused(read, read_json, f'"good"\n{text}', (2, column), complaint)


def test_a_tree_in_json_must_be_binary_where_asked(read):
    refused(
        read, read_json, '["a", "b", "c"]', (1, 0), "a node has 3 children", binary=True
    )


json_values = st.recursive(
    st.text(st.characters(codec="utf-8"), max_size=3) | st.integers() | st.booleans(),
    lambda below: st.lists(below) | st.dictionaries(st.text("ab"), below),
    max_leaves=10,
)


@given(json_values, st.sampled_from([None, 1]))
def test_json_is_parsed_as_the_standard_library_does(value, indent):
    from recursive_tf.data.readers.json_lines import _Parser
    from recursive_tf.data.readers.source import Line

    text = json.dumps(value, indent=indent)
    assert _Parser(Line(1, text)).parse() == value


# Lattices.

LATTICE = """\
2
3
0 7 9
0
1 0 62
2 1 480 0 3395

1
0
0
"""


def test_a_lattice_shares_positions_among_words(read):
    forest = read(read_lattices, LATTICE)
    lattice = forest[0]
    assert lattice.tokens.numpy().tolist() == [-1, 62, 3395, 480]
    assert lattice.labels.numpy().tolist() == [0, 7, -1, 9]
    assert lattice.features["is_word"].numpy().tolist() == [0, 0, 1, 0]
    assert lattice.children.to_list() == [[], [0], [0], [1, 2]]
    assert (len(forest), int(lattice.roots)) == (2, 3)


@pytest.mark.parametrize(
    ("old", "new", "place", "complaint"),
    [
        ("0 7 9", "0 7", (3, 1), "2 tags of 3"),
        ("1 0 62\n", "", (2, 1), "2 positions of 3"),
        ("62", "six", (5, 5), "'six' is no integer"),
        ("2 1 480", "3 1 480", (6, 1), r"\[3\] words in 5 numbers"),
        ("2 1 480 0 3395", "2 0 480 1 3395", (6, 1), r"begin at \[0, 1\] and end at 2"),
        ("2 1 480 0 3395", "2 1 480 2 3395", (6, 1), r"begin at \[1, 2\] and end at 2"),
        ("1 0 62", "0", (5, 1), r"begin at \[\] and end at 1"),
    ],
)
def test_what_is_no_lattice_is_refused(read, old, new, place, complaint):
    refused(read, read_lattices, LATTICE.replace(old, new, 1), place, complaint)


# Depth.


@pytest.mark.slow
@pytest.mark.parametrize("format_", ["sst", "ptb", "conllu", "json"])
def test_depth_50000_with_100000_nodes_is_no_limit(read, format_):
    depth = 50_000
    if format_ == "conllu":
        lines = [f"{i}\ta\t_\t_\t_\t_\t{i - 1}\tb\t_\t_" for i in range(1, 100_001)]
        forest = read(read_conllu, "\n".join(lines))
    elif format_ == "json":
        forest = read(read_json, "[" * depth + '"a"' + ', "b"]' * depth)
    else:
        reader = {"sst": read_sst, "ptb": read_ptb}[format_]
        forest = read(reader, "(0 " * depth + "(0 a)" + " (0 b))" * depth)
    assert int(forest.num_nodes) >= 100_000
