"""Training that was stopped goes on as if it had not been."""

import time

import pytest

from models import tree_lstm
from models.running import record
from models.running.run_folder import RunFolder
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


def test_a_line_without_its_checkpoint_is_made_again(undisturbed, tmp_path):
    train(tree_lstm.TASK, tmp_path, **(CHOSEN | {"epochs": 2}))
    metrics = RunFolder(tmp_path).metrics
    lost = metrics.read_text().splitlines()[-1].replace('"epoch": 2', '"epoch": 3')
    metrics.write_text(metrics.read_text() + lost + "\n")
    train(tree_lstm.TASK, tmp_path, **CHOSEN, resume=True)
    assert figures(tmp_path) == undisturbed


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
