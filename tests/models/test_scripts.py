"""The modes of the scripts: train, evaluate, predict, export; and their errors."""

import json
import sys

import numpy as np
import pytest
import tensorflow as tf
from absl import flags

import recursive_tf as rtf
from models import rntn, tree_lstm, tree_rnn
from models.running import script, settings
from recursive_tf.training import RunFolder, record
from tests.models.scripts import SMALL, result_of, run, train

pytestmark = pytest.mark.slow

TASKS = [tree_rnn.TASK, rntn.TASK, tree_lstm.TASK]
# Enough to learn a handful of trees by heart.
LEARNS = {"epochs": 40, "learning_rate": 0.3, "embedding_rate": 0.3, "dropout": 0.0}
METRICS = {"epoch", "loss", "dev_loss", "trees_per_s", "seconds"} | {
    f"dev_{name}" for name in ("root_fine", "root_binary", "nodes")
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A TreeLSTM that was trained for two epochs."""
    folder = tmp_path_factory.mktemp("runs") / "tree_lstm"
    train(tree_lstm.TASK, folder)
    return RunFolder(folder)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_training_leaves_a_record_a_model_and_a_picture(task, tmp_path, capsys):
    train(task, tmp_path / "run")
    result = result_of(capsys)
    folder = RunFolder(tmp_path / "run")
    lines = record.read(folder.metrics)
    assert [line["epoch"] for line in lines] == [1, 2]
    assert all(set(line) == METRICS for line in lines)
    assert result["dev_root_fine"] == round(max(e["dev_root_fine"] for e in lines), 4)
    assert folder.curve.read_bytes().startswith(b"\x89PNG")
    assert result["checkpoint"] == str(folder.best)
    assert folder.best.exists()


def test_another_metric_may_decide_which_model_is_kept(tmp_path, capsys):
    train(tree_lstm.TASK, tmp_path, epochs=6, best_by="nodes")
    best = max(record.read(RunFolder(tmp_path).metrics), key=lambda e: e["dev_nodes"])
    assert result_of(capsys)["epoch"] == best["epoch"]
    run(tree_lstm.TASK, mode="evaluate", checkpoint_dir=str(tmp_path))
    assert result_of(capsys)["nodes"] == pytest.approx(best["dev_nodes"], rel=1e-4)


def test_evaluation_gives_what_the_best_epoch_gave(trained, capsys):
    run(tree_lstm.TASK, mode="evaluate", checkpoint_dir=str(trained.path))
    found = result_of(capsys)
    best = max(record.read(trained.metrics), key=lambda e: e["dev_root_fine"])
    assert (found["split"], found["trees"]) == ("dev", SMALL["limit_trees"])
    for name in ("root_fine", "root_binary", "nodes", "loss"):
        assert found[name] == pytest.approx(best[f"dev_{name}"], rel=1e-4)


def test_another_split_is_evaluated(trained, capsys):
    folder = str(trained.path)
    run(
        tree_lstm.TASK,
        mode="evaluate",
        split="test",
        limit_trees=7,
        checkpoint_dir=folder,
    )
    found = result_of(capsys)
    assert (found["split"], found["trees"]) == ("test", 7)


def test_brackets_and_sentences_are_predicted(trained, capsys, tmp_path):
    picture = tmp_path / "tree.svg"
    run(
        tree_lstm.TASK,
        "(2 (1 or) (1 (0 false) (2 true)))",
        "true, or false",
        mode="predict",
        checkpoint_dir=str(trained.path),
        svg=str(picture),
    )
    note, *trees = capsys.readouterr().out.splitlines()
    assert "joined in a balanced" in note
    words = [line.split()[-1] for line in trees]
    assert sorted(w for w in words if not w.isdecimal()) == sorted(
        ["or", "false", "true", "true", ",", "or", "false"]
    )
    for number in (1, 2):
        assert "<svg" in (tmp_path / f"tree-{number}.svg").read_text()


def test_brackets_alone_are_no_sentence(trained, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", _Typed("(2 true)\n\n"))
    run(tree_lstm.TASK, mode="predict", checkpoint_dir=str(trained.path))
    assert "balanced" not in capsys.readouterr().out


class _Typed:
    def __init__(self, text):
        self.read = lambda: text


def test_what_is_exported_gives_the_models_logits(trained, tmp_path):
    folder = tmp_path / "saved"
    run(
        tree_lstm.TASK,
        mode="export",
        checkpoint_dir=str(trained.path),
        export_dir=str(folder),
    )
    words = trained.load_words()
    trees = rtf.data.from_nested([["or", ["true", "false"]], ["true", "unheard-of"]])
    trees = rtf.data.encode(trees, tokens=words)
    model = tf.keras.models.load_model(trained.best)
    loaded = tf.saved_model.load(folder)
    np.testing.assert_allclose(loaded.serve(trees), model(trees), rtol=1e-5, atol=1e-6)


@pytest.mark.large
def test_a_treebank_is_read_from_the_folder_given(tmp_path, capsys):
    for name in ("train.txt", "dev.txt"):
        line = "(3 (2 A) (4 (3 lovely) (2 film)))\n"
        (tmp_path / name).write_text(line * 4 + "(2 (2 so) (2 so))\n")
    train(tree_lstm.TASK, tmp_path / "run", data=str(tmp_path), **LEARNS)
    assert result_of(capsys)["dev_root_fine"] == 1.0
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert settings["l2"] == tree_lstm.TREEBANK.l2


@pytest.mark.large
def test_neutral_nodes_are_left_out_of_binary_labels(tmp_path, capsys):
    for name in ("train.txt", "dev.txt"):
        lines = ["(3 (2 A) (4 (3 lovely) (2 film)))\n", "(0 (2 so) (1 bad))\n"]
        (tmp_path / name).write_text("".join(lines) * 4)
    chosen = LEARNS | {"labels": "binary"}
    train(tree_lstm.TASK, tmp_path / "run", data=str(tmp_path), **chosen)
    result = result_of(capsys)
    assert "dev_root_fine" not in result
    assert result["dev_root_binary"] == result["dev_nodes"] == 1.0


def test_a_folder_without_a_treebank_is_an_error(tmp_path):
    with pytest.raises(
        SystemExit, match=r"--data: .*train\.txt: there is no such file"
    ):
        train(tree_lstm.TASK, tmp_path / "run", data=str(tmp_path / "nowhere"))


def test_a_run_is_not_overwritten(trained):
    with pytest.raises(SystemExit, match=r"There is a run in .*--resume"):
        train(tree_lstm.TASK, trained.path)


@pytest.mark.parametrize("mode", ["evaluate", "predict", "export"])
def test_a_folder_without_a_run_is_an_error(mode, tmp_path):
    inputs = ["x"] if mode == "predict" else []
    with pytest.raises(SystemExit, match="There is no run in"):
        run(tree_lstm.TASK, *inputs, mode=mode, checkpoint_dir=str(tmp_path))


def test_the_folder_must_be_said(tmp_path):
    with pytest.raises(SystemExit, match="Say which run: --checkpoint_dir"):
        run(tree_lstm.TASK, mode="evaluate")


def test_help_lists_the_flags_of_all_modules(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["a script"])
    settings.define_flags(tree_lstm.TASK.generated, tree_lstm.TASK.given)
    script.show_flags()
    text = flags.FLAGS.main_module_help()
    for name in ("mode", "resume", "strategy", "batch_size"):
        assert f"--{name}:" in text or f"--[no]{name}:" in text
