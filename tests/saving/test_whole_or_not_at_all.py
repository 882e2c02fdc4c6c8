"""What is saved is there whole, or what was there before is: also after SIGKILL."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import pytest
import tensorflow as tf

from recursive_tf.layers.whole_folder import whole_folder
from recursive_tf.python.config_files import read_config, write_config

ROOT = pathlib.Path(__file__).parents[2]


class Stopped(BaseException):
    """Where a process would be killed."""


def test_a_file_that_is_not_finished_leaves_the_one_before(tmp_path, monkeypatch):
    path = tmp_path / "policy.json"
    write_config(path, {"version": 1})

    def stop(*_):
        raise Stopped

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(Stopped):
        write_config(path, {"version": 2})
    assert read_config(path, "policy", key="version") == {"version": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["policy.json"]


def test_a_file_may_be_read_by_whom_others_may(tmp_path):
    write_config(tmp_path / "it", {})
    (tmp_path / "other").touch()
    modes = {(tmp_path / name).stat().st_mode for name in ("it", "other")}
    assert len(modes) == 1


def test_a_folder_that_is_not_finished_leaves_the_one_before(tmp_path):
    path = tmp_path / "model"
    for version in ("1", "2"):
        with whole_folder(path) as folder:
            os.mkdir(folder)
            pathlib.Path(folder, "version").write_text(version)

    def stop():
        with whole_folder(path) as folder:
            os.mkdir(folder)
            raise Stopped

    with pytest.raises(Stopped):
        stop()
    assert (path / "version").read_text() == "2"
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


EXPORTS = """
    import sys
    import keras
    import numpy as np
    import recursive_tf as rtf

    trees = rtf.data.from_nested([[1, [2, 3]], [4, 5]])
    words = keras.layers.Embedding(10, 3)
    encoder = rtf.layers.TreeEncoder(rtf.layers.TreeLSTMCell(4), words)
    model = keras.Sequential([rtf.layers.ForestInput(), encoder])
    model(trees)
    for number in range(1_000):
        for variable in model.variables:
            variable.assign(np.full(variable.shape, number, variable.dtype))
        print("exporting", number, flush=True)
        rtf.layers.export(model, sys.argv[1], like=trees)
"""


@pytest.mark.slow
def test_an_export_that_is_killed_leaves_a_model_that_loads(tmp_path, times):
    path = tmp_path / "model"
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(EXPORTS), str(path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    for line in process.stdout:
        if line == f"exporting {times(2)}\n":
            break
    # In the middle of it: some of the new files are there.
    while not list(tmp_path.glob(".model.*/new/*")):
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.stdout.close()
    assert process.wait(60) == -signal.SIGKILL
    loaded = tf.saved_model.load(path)
    found = {float(tf.reduce_max(v)) for v in loaded.variables}
    assert len(found) == 1  # All variables are of one export.
    assert found.pop() >= times(2) - 1


def test_json_that_is_cut_says_so(tmp_path):
    path = tmp_path / "policy.json"
    path.write_text(json.dumps({"version": 1})[:-3])
    with pytest.raises(ValueError, match="it is not JSON"):
        read_config(path, "learned policy", key="automata")
