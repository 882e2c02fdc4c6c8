"""Training that was stopped goes on as if it had not been."""

import random
import time

import pytest

from models import tree_lstm
from recursive_tf.training import RunFolder, record
from recursive_tf.training.checkpoints import positions_in
from tests.models.scripts import SMALL, figures, start, train

pytestmark = pytest.mark.slow

EPOCHS = 6
# All that is random: the order, and dropout outside of the recursion and in it.
CHOSEN = SMALL | {
    "epochs": EPOCHS,
    "dropout": 0.5,
    "word_dropout": 0.2,
    "recurrent_dropout": 0.2,
}


# An epoch of 60 steps, and a checkpoint after each seven of them.
LONG = CHOSEN | {"epochs": 3, "limit_trees": 60, "batch_size": 1, "checkpoint_every": 7}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "undisturbed"
    train(tree_lstm.TASK, folder, **CHOSEN)
    return figures(folder)


def test_stopping_between_epochs_changes_nothing(undisturbed, tmp_path):
    train(tree_lstm.TASK, tmp_path, **(CHOSEN | {"epochs": 2}))
    assert figures(tmp_path) == undisturbed[:2]
    train(tree_lstm.TASK, tmp_path, **CHOSEN, resume=True)
    assert figures(tmp_path) == undisturbed


def wait_for(condition, program):
    while not condition():
        assert program.code is None, program.said()
        time.sleep(0.001)


@pytest.mark.parametrize("moment", ["a line is written", "a model is written"])
def test_being_killed_changes_nothing(undisturbed, tmp_path, moment):
    folder = RunFolder(tmp_path)
    program = start(tmp_path, CHOSEN)
    if moment == "a line is written":  # But no checkpoint of it yet, perhaps.
        wait_for(lambda: len(record.read(folder.metrics)) == 3, program)
    else:
        wait_for(folder.best.exists, program)
    program.kill()
    assert len(figures(tmp_path)) < EPOCHS
    train(tree_lstm.TASK, tmp_path, **CHOSEN, resume=True)
    assert figures(tmp_path) == undisturbed


@pytest.fixture(scope="module")
def long_undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "long"
    train(tree_lstm.TASK, folder, **(LONG | {"checkpoint_every": 500}))
    return figures(folder)


def test_being_killed_within_epochs_changes_nothing(long_undisturbed, tmp_path):
    folder = RunFolder(tmp_path)
    moments = sorted((random.randrange(3), random.randrange(1, 50)) for _ in range(3))
    for moment in moments:
        program = start(tmp_path, LONG, "--restartable")
        while positions_in(folder.last)[:1] < [moment]:
            assert program.code is None, program.said()
        program.kill()
    assert positions_in(folder.last)[0] < (3, 0)
    train(tree_lstm.TASK, tmp_path, **LONG, resume=True)
    assert figures(tmp_path) == long_undisturbed, moments


@pytest.fixture
def interrupted(monkeypatch):
    """Returns what trains up to a step of an epoch, and no further."""

    def train_until(epoch, step, folder, **chosen):
        on_train_batch_end = record.Record.on_train_batch_end

        def interrupt(self, batch, logs):
            on_train_batch_end(self, batch, logs)
            if (len(self.epochs), batch + 1) == (epoch, step):
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(record.Record, "on_train_batch_end", interrupt)
            with pytest.raises(SystemExit, match="--resume"):
                train(tree_lstm.TASK, folder, **chosen)

    return train_until


@pytest.mark.parametrize("epoch", [0, 2])
def test_training_goes_on_from_a_step(long_undisturbed, tmp_path, interrupted, epoch):
    interrupted(epoch, 49, tmp_path, **LONG)
    folder = RunFolder(tmp_path)
    assert positions_in(folder.last) == [(epoch, 42), (epoch, 35)]
    interrupted(epoch, 49, tmp_path, **LONG, resume=True)
    train(tree_lstm.TASK, tmp_path, **LONG, resume=True)
    assert figures(tmp_path) == long_undisturbed


def test_a_damaged_checkpoint_of_a_step_is_passed_over(
    long_undisturbed, tmp_path, interrupted, caplog
):
    interrupted(1, 28, tmp_path, **LONG)
    folder = RunFolder(tmp_path)
    (folder.last / "ckpt-1-21.index").write_bytes(b"")
    train(tree_lstm.TASK, tmp_path, **LONG, resume=True)
    assert "goes on from step 14 of epoch 2." in caplog.text
    assert figures(tmp_path) == long_undisturbed


def test_what_a_kill_left_in_the_folder_is_removed(tmp_path):
    folder = RunFolder(tmp_path)
    part = folder.last / "ckpt-0-7_temp" / "part-00000-of-00001.index"
    part.parent.mkdir(parents=True)
    part.touch()
    train(tree_lstm.TASK, tmp_path)
    kept = {path.name.partition(".")[0] for path in folder.last.iterdir()}
    assert kept == {"ckpt-1", "ckpt-2"}


@pytest.mark.large
def test_a_line_without_its_checkpoint_is_made_again(undisturbed, tmp_path):
    train(tree_lstm.TASK, tmp_path, **(CHOSEN | {"epochs": 2}))
    metrics = RunFolder(tmp_path).metrics
    lost = metrics.read_text().splitlines()[-1].replace('"epoch": 2', '"epoch": 3')
    metrics.write_text(metrics.read_text() + lost + "\n")
    train(tree_lstm.TASK, tmp_path, **CHOSEN, resume=True)
    assert figures(tmp_path) == undisturbed


@pytest.mark.large
def test_an_interrupt_says_how_to_go_on(undisturbed, tmp_path, monkeypatch):
    on_epoch_end = record.Record.on_epoch_end

    def interrupted(self, epoch, logs):
        if epoch == 2:
            raise KeyboardInterrupt
        on_epoch_end(self, epoch, logs)

    with monkeypatch.context() as patch:
        patch.setattr(record.Record, "on_epoch_end", interrupted)
        with pytest.raises(SystemExit, match=f"--resume --checkpoint_dir={tmp_path}"):
            train(tree_lstm.TASK, tmp_path, **CHOSEN)
    assert RunFolder(tmp_path).curve.exists()
    train(tree_lstm.TASK, tmp_path, **CHOSEN, resume=True)
    assert figures(tmp_path) == undisturbed


def test_settings_stay_as_they_are(tmp_path):
    train(tree_lstm.TASK, tmp_path)
    with pytest.raises(SystemExit, match="--hidden=7: the run has 6"):
        train(tree_lstm.TASK, tmp_path, resume=True, hidden=7)
