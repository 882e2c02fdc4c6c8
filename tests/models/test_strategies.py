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

from models import tree_lstm
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


def start(folder, *more, environment=None):
    flags = [f"--{name}={value}" for name, value in CHOSEN.items()]
    command = [sys.executable, "-m", "models.tree_lstm", f"--checkpoint_dir={folder}"]
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
    train(tree_lstm.TASK, tmp_path, **(CHOSEN | {"epochs": EPOCHS - 1}))
    finish(start(tmp_path, "--resume", "--strategy=mirrored"))
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


def config_of(addresses, number):
    """Returns the TF_CONFIG of a worker."""
    task = {"type": "worker", "index": number}
    return json.dumps({"cluster": {"worker": addresses}, "task": task})


def in_cluster(folder, number, addresses):
    return start(
        folder,
        "--strategy=multi_worker",
        "--restartable",
        environment={"TF_CONFIG": config_of(addresses, number)},
    )


def two_addresses():
    return [f"127.0.0.1:{port}" for port in free_ports(2)]


def test_a_worker_that_loses_another_says_so(tmp_path):
    addresses = two_addresses()
    chief, other = (in_cluster(tmp_path, i, addresses) for i in range(2))
    wait_for_epoch(tmp_path, 1, chief)
    other.send_signal(signal.SIGKILL)
    lost = time.monotonic()
    assert "Another process of the cluster has ended" in finish(chief, code=1)
    assert time.monotonic() - lost < SOON_S
    other.communicate()


def enter_cluster(monkeypatch, addresses):
    """Makes this process the first worker of a cluster."""
    monkeypatch.setenv("TF_CONFIG", config_of(addresses, 0))


def test_a_worker_that_does_not_come_is_named_in_time(monkeypatch, tmp_path):
    addresses = two_addresses()
    enter_cluster(monkeypatch, addresses)
    missing = re.escape(f"Waited in vain for worker:1 ({addresses[1]})")
    with pytest.raises(SystemExit, match=missing):
        run(
            tree_lstm.TASK,
            strategy="multi_worker",
            checkpoint_dir=str(tmp_path),
            cluster_timeout_s=1.0,
        )
    assert not RunFolder(tmp_path).settings.exists()


def test_a_cluster_needs_a_folder(monkeypatch):
    enter_cluster(monkeypatch, ["a:1", "b:1"])
    with pytest.raises(SystemExit, match="--checkpoint_dir"):
        run(tree_lstm.TASK, strategy="multi_worker")
