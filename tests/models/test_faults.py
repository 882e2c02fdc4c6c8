"""What is wrong with a run's files is one line that names the file and the cure."""

import errno
import os
import re
import resource
import shutil

import pytest
import tensorflow as tf

from models import td_tree_lstm, tree_lstm
from recursive_tf.training import RunFolder, files, record
from recursive_tf.training.checkpoints import positions_in
from tests.models.scripts import (
    SMALL,
    figures,
    one_line,
    result_of,
    run,
    start,
    train,
)

pytestmark = pytest.mark.slow

PATIENCE_S = 120.0


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A run of three epochs."""
    folder = tmp_path_factory.mktemp("runs") / "undisturbed"
    train(tree_lstm.TASK, folder, epochs=3)
    return RunFolder(folder)


@pytest.fixture(scope="module")
def two_epochs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "two"
    train(tree_lstm.TASK, folder, epochs=2)
    return folder


@pytest.fixture
def run_folder(two_epochs, tmp_path):
    """A run of two epochs that may be damaged."""
    shutil.copytree(two_epochs, tmp_path / "run")
    return RunFolder(tmp_path / "run")


def resume(folder, **chosen):
    train(tree_lstm.TASK, folder.path, resume=True, **({"epochs": 3} | chosen))


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path):
    path.write_bytes(b"")


def spoil(path):
    path.write_bytes(os.urandom(path.stat().st_size))


DAMAGES = [cut, empty, spoil]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("mode", ["train", "evaluate", "predict"])
def test_damaged_settings_are_named(run_folder, damage, mode):
    damage(run_folder.settings)
    inputs = ["true"] if mode == "predict" else []
    choices = {"mode": mode, "checkpoint_dir": str(run_folder.path)}
    with pytest.raises(SystemExit) as error:
        run(tree_lstm.TASK, *inputs, resume=mode == "train", **choices)
    assert re.match(r".*settings\.json is damaged: .*Put back a copy", one_line(error))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"hidden": 6', '"hidden": "6"'),
        ('"hidden": 6', '"hidden": 0'),
        ('"executor": "auto"', '"executor": "none"'),
        ('"data": null', '"data": 7'),
        ('"epochs": 2', '"epochs": null'),
        ('"dropout": 0.0', '"dropout": 2.0'),
    ],
)
def test_settings_that_no_flag_gives_are_named(run_folder, old, new):
    text = run_folder.settings.read_text()
    assert old in text
    run_folder.settings.write_text(text.replace(old, new, 1))
    name = re.escape(new.split('"')[1])
    with pytest.raises(SystemExit, match=rf"settings\.json is damaged: {name} is "):
        run(tree_lstm.TASK, mode="evaluate", checkpoint_dir=str(run_folder.path))


def test_the_run_of_another_model_is_named(run_folder):
    with pytest.raises(SystemExit, match=r"settings\.json is of another model"):
        run(td_tree_lstm.TASK, mode="evaluate", checkpoint_dir=str(run_folder.path))


def test_a_record_whose_last_line_is_cut_goes_on(run_folder, undisturbed, caplog):
    text = run_folder.metrics.read_text()
    run_folder.metrics.write_text(text[:-30])
    resume(run_folder)
    expected = figures(undisturbed.path)
    assert figures(run_folder.path) == [expected[0], expected[2]]
    assert "metrics.jsonl has whole lines of 1 of 2 epochs" in caplog.text


def test_a_damaged_record_goes_on(run_folder, undisturbed):
    spoil(run_folder.metrics)
    resume(run_folder)
    assert figures(run_folder.path) == figures(undisturbed.path)[2:]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("part", ["index", "data-00000-of-00001"])
def test_a_damaged_checkpoint_is_passed_over(
    run_folder, undisturbed, caplog, damage, part
):
    damage(run_folder.last / f"ckpt-2.{part}")
    resume(run_folder)
    assert figures(run_folder.path) == figures(undisturbed.path)
    assert re.search(r"ckpt-2 is damaged: .* goes on from epoch 1\.", caplog.text)


def test_checkpoints_that_are_all_damaged_are_named(run_folder):
    for part in run_folder.last.iterdir():
        cut(part)
    with pytest.raises(SystemExit) as error:
        resume(run_folder)
    assert re.match(r".*last/ckpt-2 is damaged: .*begin another run", one_line(error))
    assert len(figures(run_folder.path)) == 2


def test_checkpoints_that_are_lost_do_not_cost_the_record(run_folder):
    shutil.rmtree(run_folder.last)
    with pytest.raises(SystemExit, match=r"last has no checkpoint any more"):
        resume(run_folder)
    assert len(figures(run_folder.path)) == 2


def test_two_checkpoints_are_kept(undisturbed):
    assert positions_in(undisturbed.last) == [(3, 0), (2, 0)]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_model_is_named(run_folder, damage):
    damage(run_folder.best)
    with pytest.raises(SystemExit) as error:
        run(tree_lstm.TASK, mode="evaluate", checkpoint_dir=str(run_folder.path))
    assert "best.keras is damaged: it is cut" in one_line(error)


def test_a_damaged_model_is_written_again(run_folder, capsys, caplog):
    cut(run_folder.best)
    resume(run_folder)
    assert "best.keras is not there or damaged: the best one of the" in caplog.text
    assert '"epoch": 3' in capsys.readouterr().out
    run(tree_lstm.TASK, mode="evaluate", checkpoint_dir=str(run_folder.path))
    assert result_of(capsys)["trees"] == SMALL["limit_trees"]


@pytest.mark.parametrize("damage", [*DAMAGES, os.unlink])
def test_a_damaged_vocabulary_is_named(run_folder, damage):
    damage(run_folder.words)
    with pytest.raises(SystemExit) as error:
        run(tree_lstm.TASK, "true", mode="predict", checkpoint_dir=str(run_folder.path))
    what = "is not there. " if damage is os.unlink else "is damaged: "
    assert f"words.txt {what}" in one_line(error)


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_is_a_file_is_named(tmp_path, place):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(SystemExit) as error:
        train(tree_lstm.TASK, tmp_path / place)
    assert f"{tmp_path / place} cannot be written: " in one_line(error)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_start_that_fails_leaves_no_folder(tmp_path):
    with pytest.raises(SystemExit, match="there is no such file"):
        train(tree_lstm.TASK, tmp_path / "run", data=str(tmp_path / "nowhere"))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_line_and_spoils_nothing(run_folder, undisturbed, tmp_path):
    before = {
        path: path.read_bytes() for path in run_folder.path.rglob("*") if path.is_file()
    }
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, limits[1]))
    try:
        with pytest.raises(SystemExit) as error:
            resume(run_folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "cannot be written: " in one_line(error)
    named = (run_folder.best, run_folder.last, run_folder.metrics, run_folder.curve)
    assert str(error.value).startswith(tuple(str(path) for path in named))
    whole = (run_folder.best, run_folder.curve, run_folder.words)
    assert all(path.read_bytes() == before[path] for path in whole)
    assert not list(run_folder.path.glob("new.*"))
    resume(run_folder)
    assert figures(run_folder.path) == figures(undisturbed.path)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("what", ["settings", "metrics", "best", "words", "curve"])
def test_a_file_that_does_not_fit_stays_as_it_was(
    run_folder, monkeypatch, number, what
):
    path = getattr(run_folder, what)
    before = path.read_bytes()

    def full(old, new):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", full)
        message = f"{path} cannot be written: {os.strerror(number)}"
        with pytest.raises(files.RunError, match=message), files.replaced(path) as new:
            new.write_text("half")
    assert path.read_bytes() == before
    assert not new.exists()


def test_who_is_gone_is_no_matter_of_files(tmp_path):
    with pytest.raises(tf.errors.UnavailableError), files.writing(tmp_path):
        raise tf.errors.UnavailableError(None, None, "gone")


@pytest.mark.large
def test_a_second_run_in_a_folder_is_refused(tmp_path):
    folder = RunFolder(tmp_path / "run")
    folder.path.mkdir()
    first = start(folder.path, SMALL | {"epochs": 2000}, log="first.log")
    while not record.read(folder.metrics):
        assert first.code is None, first.said()
    for more in ("--resume", "--restartable", "--strategy=multi_worker"):
        said = start(folder.path, SMALL, more, log="second.log").finish(PATIENCE_S, 1)
    lines = [line for line in said.splitlines() if "run in" in line]
    assert len(lines) == 3
    assert all(f"still going on, by process {first.pid}" in line for line in lines)
    assert "Traceback" not in said
    first.kill()
    epochs = len(record.read(folder.metrics)) + 1
    train(tree_lstm.TASK, folder.path, resume=True, epochs=epochs)
    assert len(figures(folder.path)) == epochs


def test_a_command_that_starts_processes_advises_what_there_is(tmp_path):
    arguments = ("--strategy=multi_worker", f"--data={tmp_path / 'nowhere'}")
    said = start(tmp_path, SMALL, *arguments).finish(PATIENCE_S, code=1)
    assert "there is no such file" in said
    assert "ended with exit code 1; its log is" in said
    assert "--resume" not in said
