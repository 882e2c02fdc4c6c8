"""A network that is cut in two ends the tasks on both sides, which name each other."""

import os
import subprocess
import sys
import time

import pytest

from recursive_tf.distribute.local_cluster import tf_config
from recursive_tf.training.checkpoints import positions_in
from tests.clusters import machines
from tests.clusters.machines import Machines, wait_for
from tests.models.scripts import SMALL

pytestmark = [pytest.mark.slow, pytest.mark.large]

NAMES = ("left", "right")
SOON_S = 90.0
PORT = 2222


@pytest.fixture
def network():
    if why := machines.why_not():
        pytest.skip(why)
    with Machines(NAMES) as network:
        yield network


@pytest.fixture
def trained(network, tmp_path):
    """Starts a task on each machine; returns their processes and logs."""
    started = []

    def start(**chosen):
        chosen = SMALL | {"epochs": 5000, "limit_trees": 200, "batch_size": 5} | chosen
        given = [f"--{name}={value}" for name, value in chosen.items()]
        flags = ["--strategy=multi_worker", f"--checkpoint_dir={tmp_path}", *given]
        cluster = {"worker": [f"{name}:{PORT}" for name in NAMES]}
        for number, name in enumerate(NAMES):
            with (tmp_path / f"{name}.log").open("wb") as log:
                command = [sys.executable, "-m", "models.tree_lstm", *flags]
                process = subprocess.Popen(
                    network.command(name, *command),
                    env={**os.environ, **tf_config(cluster, "worker", number)},
                    stdout=log,
                    stderr=log,
                )
            started.append(process)
        return started

    yield start
    for process in started:
        process.kill()
        process.wait()


def said(tmp_path, name):
    return (tmp_path / f"{name}.log").read_text()


def test_a_cut_in_training_is_said_on_both_sides(network, trained, tmp_path):
    processes = trained(checkpoint_every=4)
    last = tmp_path / "last"

    def all_said():
        return "\n".join(said(tmp_path, name) for name in NAMES)

    wait_for(lambda: positions_in(last), SOON_S, all_said)
    network.cut_off("right")
    cut = time.monotonic()
    for process in processes:
        assert process.wait(SOON_S) == 1, all_said()
    print(f"figure: network cut: {time.monotonic() - cut:.0f} s")  # noqa: T201
    for name, other in (("left", "worker:1"), ("right", "worker:0")):
        assert f"lost {other}" in said(tmp_path, name) or (
            f"{other} has not been heard of" in said(tmp_path, name)
        ), said(tmp_path, name)
    assert positions_in(last)


def test_a_cut_before_the_start_is_said_on_both_sides(network, trained, tmp_path):
    network.cut_off("right")
    for process in trained(cluster_timeout_s=3.0):
        assert process.wait(SOON_S) == 1
    assert "Waited in vain for worker:1 (right:2222)" in said(tmp_path, "left")
    assert "worker:1 cannot reach worker:0 at left:2222" in said(tmp_path, "right")
