"""Reviews become trees: their words, shapes, and labels of roots and of nodes."""

import numpy as np
import pytest

import recursive_tf as rtf
from models import tree_lstm
from models.sentiment.labels import NO_LABEL
from models.sentiment.reviews import label_nodes, read_reviews
from recursive_tf.data import split_words
from tests.models.scripts import result_of, train

REVIEWS = (
    "1\tA lovely film.<br /><br />I didn't sleep!\n"
    "0\tDull, so dull.\n"
    "1\tGood.\n"
    "0\tBad ... and long. I left.\n"
)
WORDS = [
    ["A", "lovely", "film", ".", "I", "did", "n't", "sleep", "!"],
    ["Dull", ",", "so", "dull", "."],
    ["Good", "."],
    ["Bad", ".", ".", ".", "and", "long", ".", "I", "left", "."],
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text(REVIEWS)
    return path


def leaves_of(nested):
    if isinstance(nested, list):
        return [word for part in nested for word in leaves_of(part)]
    return [nested if isinstance(nested, str) else nested["token"]]


def read(file, shape="balanced", unit="review", limit=None, seed=0):
    return read_reviews(file, shape, unit, limit, seed)


def words_of(forest):
    return [leaves_of(tree) for tree in forest.replace(labels=None).to_nested()]


def roots_of(forest):
    return forest.labels.numpy()[forest.roots.numpy()].tolist()


@pytest.mark.parametrize("shape", ["balanced", "moderate", "linear", "random"])
def test_trees_have_the_words_of_their_reviews_in_order(file, shape):
    forest = read(file, shape).validate()
    assert words_of(forest) == WORDS
    assert roots_of(forest) == [1, 0, 1, 0]


def test_only_roots_have_labels(file):
    forest = read(file)
    others = np.delete(forest.labels.numpy(), forest.roots.numpy())
    assert set(others) == {NO_LABEL}


def test_a_sentence_has_the_label_of_its_review(file):
    forest = read(file, unit="sentence")
    assert words_of(forest) == [
        WORDS[0][:4],
        WORDS[0][4:],
        WORDS[1],
        WORDS[2],
        WORDS[3][:4],
        WORDS[3][4:7],
        WORDS[3][7:],
    ]
    assert roots_of(forest) == [1, 1, 0, 1, 0, 0, 0]


@pytest.mark.parametrize("unit", ["review", "sentence"])
def test_the_first_trees_are_read(file, unit):
    assert (
        words_of(read(file, unit=unit, limit=3)) == words_of(read(file, unit=unit))[:3]
    )


@pytest.mark.parametrize("line", ["2\tfilm", "1 film", "film", "1\t ", ""])
def test_a_line_that_is_no_review_is_an_error(file, line):
    file.write_text(REVIEWS + line + "\n")
    with pytest.raises(rtf.data.ReadError, match=r"line 5.*0 or 1, a tab and a review"):
        read(file)


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(rtf.data.ReadError, match=r"dev\.tsv: there is no such file"):
        read(tmp_path / "dev.tsv")


def test_a_labeler_that_is_not_there_is_an_error(file, tmp_path):
    with pytest.raises(rtf.data.ReadError, match="no model to label nodes with"):
        label_nodes(read(file), tmp_path)


def test_words_and_marks_are_split_as_in_treebanks():
    assert split_words("It's 'not' bad -- isn't it?") == [
        *("It", "'s", "'", "not", "'", "bad", "-", "-", "is", "n't", "it", "?")
    ]


@pytest.fixture(scope="module")
def labeler(tmp_path_factory):
    """A model of a treebank, which knows a few words by heart."""
    folder = tmp_path_factory.mktemp("labeler")
    lines = ["(4 (4 Good) (2 .))\n", "(0 (0 Bad) (2 .))\n", "(1 (2 so) (1 dull))\n"]
    for name in ("train.txt", "dev.txt"):
        (folder / name).write_text("".join(lines) * 4)
    rates = {"learning_rate": 0.3, "embedding_rate": 0.3, "dropout": 0.0, "epochs": 40}
    train(tree_lstm.TASK, folder / "run", data=str(folder), **rates)
    return folder / "run"


@pytest.mark.slow
def test_a_model_labels_all_nodes_but_roots(file, labeler):
    forest = label_nodes(read(file), labeler)
    assert roots_of(forest) == [1, 0, 1, 0]
    labels = forest.labels.numpy()
    leaves = {
        word.decode(): label
        for word, label in zip(forest.tokens.numpy(), labels, strict=True)
    }
    assert leaves["Good"] == 1
    assert leaves["Bad"] == leaves["dull"] == 0
    assert leaves["so"] == leaves["."] == NO_LABEL


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("program", ["recursive", "iterative"])
def test_a_model_is_trained_on_reviews(file, labeler, tmp_path, capsys, program):
    (tmp_path / "dev.tsv").write_text(REVIEWS)
    train(
        tree_lstm.TASK,
        tmp_path / "run",
        data=str(tmp_path),
        labeler=str(labeler),
        program=program,
        shape="moderate",
        **{"learning_rate": 0.3, "embedding_rate": 0.3, "dropout": 0.0, "epochs": 30},
    )
    result = result_of(capsys)
    assert result["dev_root_binary"] == 1.0
    assert "dev_root_fine" not in result
