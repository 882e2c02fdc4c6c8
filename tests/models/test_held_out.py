"""`--hold_out`: training trees that are not learned from choose the epoch."""

import dataclasses
import json

import pytest

from models import td_tree_lstm, tree_lstm
from models.running.held_out import HELD_OUT, divided, read
from recursive_tf.training import RunError, RunFolder, record
from tests.models.scripts import SMALL, one_line, run, train

TASKS = (tree_lstm.TASK, td_tree_lstm.TASK)
SHARE = 0.3
NUM_TREES = 40


def settings_of(task, **chosen):
    return dataclasses.replace(task.generated, **({"hold_out": SHARE} | chosen))


def texts(trees):
    return [str(tree) for tree in trees.to_nested()]


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    """Returns a folder of trees that share one word, without dev.txt."""
    folder = tmp_path_factory.mktemp("treebank")
    lines = [f"({i % 5} (2 good) ({i % 5} word{i}))" for i in range(NUM_TREES)]
    (folder / "train.txt").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_a_tree_is_learned_from_or_held_out(task):
    settings = settings_of(task)
    all_trees = task.read(settings, "train")
    learned, held_out = (texts(part) for part in divided(all_trees, settings))
    assert sorted(learned + held_out) == sorted(texts(all_trees))
    assert not set(learned) & set(held_out)
    assert len(held_out) == pytest.approx(SHARE * len(all_trees), rel=0.1)
    assert texts(read(task, settings, "train")) == learned
    assert texts(read(task, settings, HELD_OUT)) == held_out


def test_trees_of_the_same_words_are_on_the_same_side(tmp_path):
    line = "({} (2 good) (2 word{}))\n"
    both = "".join(line.format(label, i) for i in range(NUM_TREES) for label in (1, 3))
    (tmp_path / "train.txt").write_text(both)
    settings = settings_of(tree_lstm.TASK, data=str(tmp_path))
    found = divided(tree_lstm.TASK.read(settings, "train"), settings)
    sides = [set(part.tokens.numpy()) - {b"", b"good"} for part in found]
    assert not sides[0] & sides[1]
    assert len(sides[0]) + len(sides[1]) == NUM_TREES


def test_without_the_flag_all_trees_are_learned_from():
    settings = settings_of(tree_lstm.TASK, hold_out=0.0, limit_trees=5)
    trees = tree_lstm.TASK.read(settings, "train")
    learned, held_out = divided(trees, settings)
    assert learned is trees
    assert len(held_out) == 0
    with pytest.raises(RunError, match="learned from all training trees"):
        read(tree_lstm.TASK, settings, HELD_OUT)


@pytest.mark.parametrize(("share", "which"), [(1e-9, "none"), (1.0, "all")])
def test_a_share_that_leaves_one_side_empty_is_refused(share, which):
    settings = settings_of(tree_lstm.TASK, hold_out=share, limit_trees=5)
    with pytest.raises(RunError, match=f"{which} of 5 training trees would be held"):
        divided(tree_lstm.TASK.read(settings, "train"), settings)


@pytest.mark.slow
def test_a_run_knows_and_learns_nothing_of_what_it_is_measured_on(
    treebank, tmp_path, capsys
):
    chosen = {"data": str(treebank), "limit_trees": None, "hold_out": SHARE}
    train(tree_lstm.TASK, tmp_path, epochs=1, **chosen)
    settings = settings_of(tree_lstm.TASK, **chosen)
    held_out = read(tree_lstm.TASK, settings, HELD_OUT)
    words = set(RunFolder(tmp_path).load_words().get_vocabulary())
    unseen = {word.decode() for word in held_out.tokens.numpy()} - {"", "good"}
    assert not words & unseen
    order = json.loads(RunFolder(tmp_path).order.read_text())
    assert order["trees"] == NUM_TREES - len(held_out)
    capsys.readouterr()
    run(
        tree_lstm.TASK,
        mode="evaluate",
        split="held_out",
        checkpoint_dir=str(tmp_path),
    )
    found = json.loads(capsys.readouterr().out)
    (line,) = record.read(RunFolder(tmp_path).metrics)
    assert found["trees"] == len(held_out)
    assert found["loss"] == pytest.approx(line["dev_loss"], rel=1e-5)


@pytest.mark.slow
def test_a_run_that_is_resumed_holds_out_the_same(tmp_path):
    train(tree_lstm.TASK, tmp_path, epochs=1, hold_out=SHARE)
    with pytest.raises(SystemExit) as error:
        train(tree_lstm.TASK, tmp_path, resume=True, hold_out=SHARE / 2)
    assert "--hold_out=0.15: the run has 0.3" in one_line(error)


@pytest.mark.slow
def test_the_limit_is_of_trees_before_some_are_held_out(tmp_path):
    train(tree_lstm.TASK, tmp_path, epochs=1, hold_out=SHARE)
    settings = settings_of(tree_lstm.TASK, limit_trees=SMALL["limit_trees"])
    held_out = read(tree_lstm.TASK, settings, HELD_OUT)
    order = json.loads(RunFolder(tmp_path).order.read_text())
    assert order["trees"] + len(held_out) == SMALL["limit_trees"]
