"""The script: it trains, goes on, is evaluated beside baselines, and makes trees."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from models import td_tree_lstm
from models.dependency.grammar import generate_sentences
from recursive_tf.training import RunFolder, record
from tests.models.dependency.conllu import to_conllu
from tests.models.scripts import figures, result_of, run

pytestmark = pytest.mark.slow

TASK = td_tree_lstm.TASK
SMALL = {"limit_trees": 60, "epochs": 3, "batch_size": 10, "hidden": 8, "dropout": 0.2}


def train(folder, **chosen):
    run(TASK, checkpoint_dir=str(folder), **(SMALL | chosen))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "td_tree_lstm"
    train(folder)
    return RunFolder(folder)


def test_a_line_an_epoch_has_perplexity_and_edges(trained):
    lines = record.read(trained.metrics)
    names = {"dev_loss", "dev_perplexity", "dev_edges", "trees_per_s", "seconds"}
    assert all(names <= set(line) for line in lines)
    assert len(lines) == SMALL["epochs"]


@pytest.mark.large
def test_what_is_resumed_gives_what_would_have_been(trained, tmp_path):
    train(tmp_path, epochs=1)
    train(tmp_path, resume=True)
    assert figures(tmp_path) == figures(trained.path)


def test_baselines_are_beside_the_perplexity(trained, capsys):
    run(TASK, mode="evaluate", checkpoint_dir=str(trained.path))
    found = result_of(capsys)
    assert found["trees"] == SMALL["limit_trees"]
    assert {"perplexity", "edges", "loss"} <= set(found)
    assert found["perplexity_bigram"] < found["perplexity_unigram"]


def test_a_number_a_word_and_a_file_are_predicted(trained, capsys, tmp_path):
    file = tmp_path / "trees.conllu"
    file.write_text(to_conllu(generate_sentences(2, seed=9)))
    choices = {"max_depth": 2, "max_nodes": 30, "checkpoint_dir": str(trained.path)}
    picture = tmp_path / "tree.svg"
    inputs = ["3", "the", str(file)]
    run(TASK, *inputs, mode="predict", svg=str(picture), **choices)
    shown = capsys.readouterr().out
    roots = [line for line in shown.splitlines() if line[0] not in "├└│ "]
    assert len(roots) == 3 + 1 + 2
    assert roots[3] == "the"
    assert len(list(tmp_path.glob("tree-*.svg"))) == 6


@pytest.mark.large
def test_what_is_drawn_is_up_to_the_seed(trained, capsys):
    def shown(**choices):
        run(TASK, "4", mode="predict", checkpoint_dir=str(trained.path), **choices)
        return capsys.readouterr().out

    small = {"max_depth": 3, "max_nodes": 50}
    drawn = shown(draw_seed=1, **small)
    assert shown(draw_seed=1, **small) == drawn
    assert shown(draw_seed=2, **small) != drawn
    assert shown(greedy=True, draw_seed=1) == shown(greedy=True, draw_seed=2)


def words_of(trees):
    """Returns the words that occur more than once, and whether there are others."""
    words, counts = np.unique(trees.tokens.numpy(), return_counts=True)
    return {word.decode() for word in words[counts > 1]}, (counts == 1).any()


def known_words(vocabulary):
    return set(vocabulary.get_vocabulary(include_special_tokens=False))


def test_words_that_occur_once_are_unknown(trained):
    few = generate_sentences(SMALL["limit_trees"], seed=0, split="train")
    of_few, some_once = words_of(few)
    assert known_words(TASK.vocabulary(few)) == of_few
    assert some_once
    of_all, _ = words_of(TASK.read(TASK.generated, "train"))  # Whatever the limit is.
    assert known_words(trained.load_words()) == of_all > of_few


def test_what_is_exported_gives_the_models_logits(trained, tmp_path):
    folder = str(trained.path)
    run(TASK, mode="export", checkpoint_dir=folder, export_dir=str(tmp_path))
    trees = generate_sentences(5, seed=2)
    trees = rtf.data.encode(trees, tokens=trained.load_words())
    model = tf.keras.models.load_model(trained.best)
    loaded = tf.saved_model.load(tmp_path)
    found = loaded.serve(trees)
    for name, logits in model(trees).items():
        np.testing.assert_allclose(found[name], logits, rtol=1e-5, atol=1e-5)


@pytest.mark.large
def test_conllu_and_brackets_are_read(tmp_path, capsys):
    for split, seed in (("train", 0), ("dev", 1)):
        text = to_conllu(generate_sentences(30, seed))
        (tmp_path / f"{split}.conllu").write_text(text)
    train(tmp_path / "run", data=str(tmp_path), left_dependents=True)
    from_conllu = result_of(capsys)
    for split in ("train", "dev"):
        line = "(3 (2 A) (4 (3 lovely) (2 film)))\n"
        (tmp_path / f"{split}.txt").write_text(line * 20)
    train(tmp_path / "brackets", data=str(tmp_path))
    assert result_of(capsys)["dev_perplexity"] < from_conllu["dev_perplexity"]


def test_a_folder_without_trees_is_an_error(tmp_path):
    with pytest.raises(SystemExit, match=r"train\.conllu: there is no such file"):
        train(tmp_path / "run", data=str(tmp_path / "nowhere"))
