"""Which words a model knows, and that it learns a vector for those that it does not."""

import dataclasses

import keras
import numpy as np
import pytest

import recursive_tf as rtf
from models import td_tree_lstm, tree_lstm
from models.sentiment.rare_words import UNKNOWN, hide_rare_words
from recursive_tf.training import RunFolder, record
from recursive_tf.training.order import Order
from tests.models.scripts import SMALL, figures, train

SHARE = 0.25
# Half of the leaves are words that no other tree has.
NUM_TREES = 40
COMMON = ("so", "good")


def lines(split, number):
    labels = [i % 5 for i in range(number)]
    return [
        f"({label} (2 {COMMON[i % 2]}) ({label} {split}{i}))"
        for i, label in enumerate(labels)
    ]


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("treebank")
    for split, number in {"train": NUM_TREES, "dev": 10}.items():
        (folder / f"{split}.txt").write_text("\n".join(lines(split, number)) + "\n")
    return folder


@pytest.fixture(scope="module")
def encoded(treebank):
    trees = rtf.data.read_sst(treebank / "train.txt").load()
    words = rtf.data.vocabulary(trees)
    return rtf.data.encode(trees, tokens=words), words


def tokens_of_epoch(encoded, epoch, batch_size=8, share=SHARE):
    """Returns the words of all trees, in an order that all epochs share."""
    trees, words = encoded
    change = hide_rare_words(trees, words.vocabulary_size(), share)
    order = Order(trees, batch_size, seed=3, change=change)
    plain = Order(trees, batch_size, seed=3)
    for one in (order, plain):
        one.on_epoch_begin(epoch)
    found, given = (
        np.concatenate([batch.tokens for batch in one.batches()])
        for one in (order, plain)
    )
    ranked = np.argsort(given, kind="stable")
    return given[ranked], found[ranked]


def test_a_share_of_the_words_seen_once_is_unknown_and_no_other_word(encoded):
    given, found = tokens_of_epoch(encoded, 0)
    counts = np.bincount(given)
    is_hidden = found == UNKNOWN
    assert set(counts[given[is_hidden]]) == {1}
    assert 0 < np.count_nonzero(is_hidden) < NUM_TREES / 2
    np.testing.assert_array_equal(found[~is_hidden], given[~is_hidden])
    of_ten = [tokens_of_epoch(encoded, epoch)[1] for epoch in range(10)]
    hidden = np.count_nonzero(np.equal(of_ten, UNKNOWN)) / (10 * NUM_TREES)
    assert hidden == pytest.approx(SHARE, abs=0.08)


def test_an_epoch_decides_which_words_and_batches_do_not(encoded):
    _, first = tokens_of_epoch(encoded, 0)
    _, second = tokens_of_epoch(encoded, 1)
    assert (first == UNKNOWN).tolist() != (second == UNKNOWN).tolist()
    for batch_size in (8, 40):
        _, again = tokens_of_epoch(encoded, 1, batch_size)
        np.testing.assert_array_equal(again, second)


def run(folder, treebank, **chosen):
    chosen = {"data": str(treebank), "limit_trees": None} | chosen
    train(tree_lstm.TASK, folder, **chosen)
    return RunFolder(folder)


def unknown_vector(run_folder):
    model = keras.models.load_model(run_folder.best)
    return np.asarray(model.encoder.embedding.embeddings)[UNKNOWN]


@pytest.mark.slow
def test_the_vector_of_unknown_words_is_trained(treebank, tmp_path):
    chosen = {"epochs": 1, "embedding_rate": 0.5}
    untrained = run(tmp_path / "none", treebank, unknown_words=0.0, **chosen)
    trained = run(tmp_path / "some", treebank, unknown_words=0.5, **chosen)
    begun = np.abs(unknown_vector(untrained)).max()
    assert begun <= tree_lstm.TREEBANK.embedding_range  # As it was initialized.
    assert np.abs(unknown_vector(trained)).max() > 2 * begun


@pytest.mark.slow
def test_an_evaluation_takes_all_words_as_they_are(treebank, tmp_path):
    kept = {"learning_rate": 0.0, "embedding_rate": 0.0, "epochs": 1, "dropout": 0.0}
    folders = [
        run(tmp_path / f"{share}", treebank, unknown_words=share, **kept)
        for share in (0.0, 1.0)
    ]
    (plain,), (hiding,) = (record.read(folder.metrics) for folder in folders)
    assert hiding["dev_loss"] == plain["dev_loss"]
    assert hiding["loss"] != plain["loss"]


@pytest.mark.large
@pytest.mark.slow
def test_stopping_between_epochs_changes_nothing(treebank, tmp_path):
    chosen = {"unknown_words": 0.5, "epochs": 4}
    run(tmp_path / "whole", treebank, **chosen)
    run(tmp_path / "parts", treebank, **(chosen | {"epochs": 2}))
    run(tmp_path / "parts", treebank, **chosen, resume=True)
    assert figures(tmp_path / "parts") == figures(tmp_path / "whole")


@pytest.mark.slow
def test_a_limit_changes_neither_words_nor_labels(treebank, tmp_path):
    few = run(tmp_path / "few", treebank, limit_trees=2, epochs=1, unknown_words=0.5)
    all_of_them = run(tmp_path / "all", treebank, epochs=1)
    words = few.load_words().get_vocabulary()
    assert words == all_of_them.load_words().get_vocabulary()
    assert len(words) == 2 + len(COMMON) + NUM_TREES
    assert keras.models.load_model(few.best).classes == 5


@pytest.mark.parametrize("task", [tree_lstm.TASK, td_tree_lstm.TASK])
def test_the_known_trees_are_all_training_trees(task):
    settings = dataclasses.replace(task.generated, limit_trees=SMALL["limit_trees"])
    train_trees = task.read(settings, "train")
    assert len(train_trees) == SMALL["limit_trees"]
    known = task.known(settings, train_trees)
    assert len(known) == len(task.read(task.generated, "train"))
    assert task.known(task.generated, known) is known
