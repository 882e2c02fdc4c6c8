"""Who writes the files of a run holds its lock, in a cluster and outside of one."""

import json
import time

import keras
import pytest

import recursive_tf as rtf
from recursive_tf.training import Run, RunError
from recursive_tf.training import run as run_module
from recursive_tf.training.lock import locked
from tests.training.run_program import CHOSEN, make_model, of_roots

SOON_S = 30.0


class Lock(keras.callbacks.Callback):
    """Notes whether training had the lock of a folder."""

    def __init__(self, folder):
        super().__init__()
        self._path = folder / "lock"
        self.is_held = None

    def on_train_begin(self, logs=None):
        with pytest.raises(RunError, match="is still going on"), locked(self._path, 0):
            pass
        self.is_held = True


def train(run, *callbacks):
    trees = rtf.data.generate("random", 12, vocabulary=9, seed=0)
    trees = trees.replace(labels=trees.tokens * 0)
    chosen = CHOSEN | {"epochs": 1}
    return run.fit(
        make_model(), trees, trees, prepare=of_roots, callbacks=callbacks, **chosen
    )


@pytest.fixture(params=["TF_CONFIG", "Slurm"])
def second_task(request, monkeypatch, tmp_path):
    """This process is the second of several, and Slurm's commands are not there."""
    monkeypatch.delenv("TF_CONFIG", raising=False)
    if request.param == "TF_CONFIG":
        cluster = {"worker": ["localhost:1", "localhost:2"]}
        config = {"cluster": cluster, "task": {"type": "worker", "index": 1}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    else:
        monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "2")
        monkeypatch.setenv("SLURM_PROCID", "1")
        monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


def test_a_run_that_was_not_begun_is_refused(tmp_path):
    run = Run(tmp_path / "run")
    for use in (run.hold, lambda: train(run)):
        with pytest.raises(RuntimeError, match=r"Write: with rtf\.training\.Run"):
            use()
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_has_ended_is_refused(tmp_path):
    with Run(tmp_path) as run:
        pass
    with pytest.raises(RuntimeError, match="was not begun"):
        train(run)


def test_a_run_that_was_refused_the_folder_was_not_begun(tmp_path):
    run = Run(tmp_path, 0.0)
    refused = pytest.raises(RunError, match="is still going on")
    with locked(tmp_path / "lock"), refused, run:
        pass
    with pytest.raises(RuntimeError, match="was not begun"):
        run.hold()


@pytest.mark.slow
def test_each_task_that_trains_alone_holds_the_lock_of_its_folder(
    second_task, tmp_path
):
    lock = Lock(tmp_path)
    with Run(tmp_path) as run:
        assert train(run, lock)["epoch"] == 1
    assert lock.is_held
    assert not run.folder.lock.exists()


def test_a_task_that_trains_alone_is_refused_a_folder_that_another_has(
    second_task, tmp_path
):
    begun = time.monotonic()
    refused = pytest.raises(RunError, match="is still going on, by process")
    with locked(tmp_path / "lock"), Run(tmp_path) as run, refused:
        train(run)
    assert time.monotonic() - begun < SOON_S < run_module.CLUSTER_PATIENCE_S


def test_a_task_may_hold_the_lock_before_it_trains(second_task, tmp_path):
    with Run(tmp_path) as run:
        assert not run.folder.lock.exists()
        for _ in range(2):
            run.hold()
            with pytest.raises(RunError), locked(run.folder.lock, 0.0):
                pass
    assert not run.folder.lock.exists()
