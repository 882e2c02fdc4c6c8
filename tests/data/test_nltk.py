"""Trees of nltk: those that it parses, chunks and makes."""

import pytest

from recursive_tf.data import ForestError, from_nltk, read_ptb

nltk = pytest.importorskip("nltk", reason="nltk is not installed")

SENTENCE = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))"


def test_labels_and_words_are_those_of_the_tree():
    forest = from_nltk(
        [nltk.Tree.fromstring(SENTENCE), nltk.Tree("S", ["it", "barks"])]
    )
    first, second = forest.validate().to_nested()
    assert first["children"][0] == {
        "label": "NP",
        "children": [{"token": "the", "label": "DT"}, {"token": "dog", "label": "NN"}],
    }
    assert second == {"label": "S", "children": ["it", "barks"]}


@pytest.mark.parametrize("kind", ["Tree", "ParentedTree", "ImmutableTree"])
def test_every_kind_of_tree_is_as_the_file_that_it_would_be_in(kind, tmp_path):
    tree = getattr(nltk.tree, kind).convert(nltk.Tree.fromstring(SENTENCE))
    (tmp_path / "tree.mrg").write_text(tree.pformat())
    read = read_ptb(tmp_path / "tree.mrg").load()
    assert from_nltk([tree], binary=False).to_nested() == read.to_nested()


def test_all_parses_of_an_ambiguous_sentence_are_a_batch():
    grammar = nltk.CFG.fromstring("S -> S S | 'a'")
    parses = from_nltk(nltk.ChartParser(grammar).parse(["a"] * 4)).validate()
    assert (len(parses), parses.is_binary) == (5, True)  # The third Catalan number.


def test_words_of_a_chunk_have_their_tags_as_labels():
    tagged = [("the", "DT"), ("dog", "NN"), ("barks", "VBZ")]
    chunks = nltk.RegexpParser("NP: {<DT>?<NN>}").parse(tagged)
    assert from_nltk([chunks]).to_nested() == [
        {
            "label": "S",
            "children": [
                {
                    "label": "NP",
                    "children": [
                        {"token": "the", "label": "DT"},
                        {"token": "dog", "label": "NN"},
                    ],
                },
                {"token": "barks", "label": "VBZ"},
            ],
        }
    ]


@pytest.mark.parametrize("part", [3, ("dog",), ("dog", 3), nltk.Tree("NP", [])])
def test_what_is_no_tree_is_refused(part):
    with pytest.raises(ForestError, match=r"Expected an nltk\.Tree with .* Got"):
        from_nltk([nltk.Tree("S", ["a", part])])


@pytest.mark.slow
def test_depth_50000_with_100000_nodes_is_no_limit():
    tree = nltk.Tree("X", ["a"])
    for _ in range(50_000):
        tree = nltk.Tree("X", [tree, "b"])
    assert int(from_nltk([tree]).validate().num_nodes) == 100_001
