"""Where trees come from: the grammar, CoNLL-U, and SST's by a rule."""

import os
import pathlib

import numpy as np
import pytest

import recursive_tf as rtf
from models.dependency.conversion import to_dependencies
from models.dependency.grammar import THEMES, generate_sentences
from tests.models.dependency.conllu import to_conllu
from tests.models.dependency.sentences import HEADS, WORDS, heads_and_words, sentences

DATA = pathlib.Path(os.environ.get("RECURSIVE_TF_DATA", "../shared/data")) / "sst"


def words_of(tree):
    return [word.decode() for word in tree.tokens.numpy()]


# --- The grammar


def test_a_seed_decides_over_sentences():
    once, again = (generate_sentences(20, seed=3) for _ in range(2))
    assert once.to_nested() == again.to_nested()
    assert once.to_nested() != generate_sentences(20, seed=4).to_nested()


def test_sentences_are_trees_of_one_theme():
    for tree in generate_sentences(50, seed=0).validate():
        found = set(words_of(tree))
        themes = [t for t in THEMES if found & {*t.nouns, *t.verbs, *t.adjectives}]
        assert len(themes) == 1
        root = words_of(tree)[int(tree.roots)]
        assert root in themes[0].verbs


# --- CoNLL-U


def test_what_is_written_as_conllu_is_read_again(tmp_path):
    trees = generate_sentences(30, seed=1)
    (tmp_path / "trees.conllu").write_text(to_conllu(trees), encoding="utf-8")
    read = rtf.data.read_conllu(tmp_path / "trees.conllu").load()
    for name in ("tokens", "roots", "sizes"):
        np.testing.assert_array_equal(getattr(read, name), getattr(trees, name))
    assert read.children.to_list() == trees.children.to_list()


def test_a_sentence_as_conllu():
    names = np.array(list("_abcdefgh"))
    text = to_conllu(sentences().replace(tokens=names[WORDS]))
    first, second = text.rstrip("\n").split("\n\n")
    lines = [line.split("\t") for line in first.split("\n")]
    assert [line[6] for line in lines] == [str(head + 1) for head in HEADS[:9]]
    assert second == "1\tb\t_\t_\t_\t_\t0\troot\t_\t_"


# --- SST


def converted(text, tmp_path):
    """Returns the words of a tree with the words that are their heads."""
    (tmp_path / "trees.txt").write_text(text + "\n")
    tree = to_dependencies(rtf.data.read_sst(tmp_path / "trees.txt").load()).validate()
    heads, _ = heads_and_words(tree)
    words = words_of(tree)
    return dict(zip(words, [words[h] if h >= 0 else None for h in heads], strict=True))


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("(4 Bravo)", {"Bravo": None}),
        (
            "(3 (2 A) (4 (4 lovely) (2 film)))",
            {"A": "film", "lovely": "film", "film": None},
        ),
        (
            "(2 (2 (2 films) (2 (2 of) (2 war))) (2 .))",
            {"films": None, "of": "films", "war": "of", ".": "films"},
        ),
        (
            "(2 (2 It) (2 (2 (2 is) (2 fun)) (2 !)))",
            {"It": "is", "is": None, "fun": "is", "!": "is"},
        ),
        (
            "(2 (2 (2 With) (2 heart)) (2 (2 ,) (2 (2 it) (2 works))))",
            {",": "works", "With": "works", "heart": "With", "it": "works"}
            | {"works": None},
        ),
    ],
)
def test_heads_are_those_of_the_rule(text, heads, tmp_path):
    assert converted(text, tmp_path) == heads


@pytest.mark.slow
@pytest.mark.skipif(
    not DATA.is_dir(),
    reason=f"no treebank in {DATA}; set RECURSIVE_TF_DATA to the folder that has sst/",
)
def test_every_tree_of_the_treebank_becomes_one_of_the_same_words():
    trees = rtf.data.read_sst(DATA / "dev.txt").load()
    found = to_dependencies(trees).validate()
    assert len(found) == len(trees) == 1101
    leaves = trees.is_leaf.numpy()
    np.testing.assert_array_equal(found.tokens, trees.tokens.numpy()[leaves])
