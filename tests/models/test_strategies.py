"""Scripts train with each strategy as they do alone, also if a process is killed."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

from models import td_tree_lstm, tree_lstm
from models.running import record
from models.running.local_cluster import free_ports
from models.running.run_folder import RunFolder
from tests.models.scripts import SMALL, figures, run, train

pytestmark = pytest.mark.slow

EPOCHS = 4
CHOSEN = SMALL | {"epochs": EPOCHS, "limit_trees": 45}  # The last batch has five.
ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_S = 90.0
SOON_S = 30.0


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "alone"
    train(tree_lstm.TASK, folder, **CHOSEN)
    return figures(folder)


def start(folder, *more, model="tree_lstm", environment=None, chosen=CHOSEN):
    flags = [f"--{name}={value}" for name, value in chosen.items()]
    command = [sys.executable, "-m", f"models.{model}", f"--checkpoint_dir={folder}"]
    return subprocess.Popen(
        [*command, *flags, *more],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process, code=0):
    said, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code, said
    return said


def close(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-6)


def wait_for_epoch(folder, number, process):
    while len(record.read(RunFolder(folder).metrics)) < number:
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.01)


def task_of(pid):
    """Returns the index of a process in its cluster, or None."""
    try:
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return None
    found = re.search(rb"TF_CONFIG=([^\0]*)", environment)
    return json.loads(found[1])["task"]["index"] if found else None


def children(pid):
    return [
        int(child)
        for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children")
        .read_text()
        .split()
    ]


def test_a_run_goes_on_with_several_devices(alone, tmp_path):
    train(tree_lstm.TASK, tmp_path, **(CHOSEN | {"epochs": 2}))
    finish(start(tmp_path, "--resume", "--strategy=mirrored", "--num_workers=3"))
    close(figures(tmp_path), alone)


def test_workers_learn_as_one_does_also_if_the_chief_is_killed(alone, tmp_path):
    process = start(tmp_path, "--strategy=multi_worker")
    wait_for_epoch(tmp_path, 2, process)
    [pid] = [child for child in children(process.pid) if task_of(child) == 0]
    os.kill(pid, signal.SIGKILL)
    said = finish(process)
    assert "worker:0 ended with SIGKILL" in said
    close(figures(tmp_path), alone)
    assert (RunFolder(tmp_path).logs / "worker-1.log").exists()
    assert '"checkpoint"' in said.splitlines()[-1]


def test_a_parameter_servers_worker_learns_as_one_does(alone, tmp_path):
    finish(start(tmp_path, "--strategy=parameter_server", "--num_workers=1"))
    close(figures(tmp_path), alone)


def test_dependency_trees_are_shared_too(tmp_path):
    chosen = CHOSEN | {"epochs": 1}
    del chosen["embedding"]
    train(td_tree_lstm.TASK, tmp_path / "alone", **CHOSEN | {"epochs": 1})
    finish(
        start(
            tmp_path / "two",
            "--strategy=mirrored",
            model="td_tree_lstm",
            chosen=chosen,
        )
    )
    close(figures(tmp_path / "two"), figures(tmp_path / "alone"))


def in_cluster(folder, number, ports, *more):
    workers = [f"127.0.0.1:{port}" for port in ports]
    task = {"type": "worker", "index": number}
    config = {"cluster": {"worker": workers}, "task": task}
    return start(
        folder,
        "--strategy=multi_worker",
        "--restartable",
        *more,
        environment={"TF_CONFIG": json.dumps(config)},
    )


def test_a_worker_that_loses_another_says_so_and_can_be_started_again(alone, tmp_path):
    ports = free_ports(2)
    chief, other = (in_cluster(tmp_path, i, ports) for i in range(2))
    wait_for_epoch(tmp_path, 2, chief)
    other.send_signal(signal.SIGKILL)
    lost = time.monotonic()
    assert "Another process of the cluster has ended" in finish(chief, code=1)
    assert time.monotonic() - lost < SOON_S
    other.communicate()
    again = [in_cluster(tmp_path, i, ports) for i in range(2)]
    for process in again:
        finish(process)
    close(figures(tmp_path), alone)


def test_a_worker_that_does_not_come_is_named_in_time(tmp_path):
    ports = free_ports(2)
    said = finish(in_cluster(tmp_path, 0, ports, "--cluster_timeout_s=1"), code=1)
    assert f"Waited in vain for worker:1 (127.0.0.1:{ports[1]})" in said
    assert not RunFolder(tmp_path).settings.exists()


def test_a_cluster_needs_a_folder(monkeypatch):
    config = {"cluster": {"worker": ["a:1", "b:1"]}}
    config["task"] = {"type": "worker", "index": 0}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    with pytest.raises(SystemExit, match="--checkpoint_dir"):
        run(tree_lstm.TASK, strategy="multi_worker")
