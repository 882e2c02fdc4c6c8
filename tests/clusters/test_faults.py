"""What goes wrong in a cluster ends in an error in time, which names the task.

What is wrong before a cluster is there is in tests/distribute/test_cluster.py. Tests
that are marked `large` take half a minute: soak part `clusters`.
"""

import os
import re
import resource
import signal
import socket
import sys
import time

import pytest
from absl import flags

from models.running import start as begin
from recursive_tf.distribute import local_cluster
from recursive_tf.distribute.local_cluster import free_ports, tf_config
from recursive_tf.distribute.lost import tasks_in
from recursive_tf.training import RunFolder
from recursive_tf.training.checkpoints import positions_in
from tests.helpers.programs import Program, addresses
from tests.models.processes import processes_of, wait_for_step
from tests.models.scripts import SMALL, start

pytestmark = pytest.mark.slow

SOON_S = 60.0  # Of which processes of a machine that does other things need most.
LONG = SMALL | {"epochs": 5000, "limit_trees": 200, "checkpoint_every": 4}


def logs_of(folder):
    return "\n".join(path.read_text() for path in RunFolder(folder).logs.iterdir())


def in_training(folder, strategy):
    flags = [f"--strategy={strategy}", "--max_restarts=0"]
    program = start(folder, LONG, *flags)
    wait_for_step(folder, (1, 4), program)
    return program


@pytest.mark.large
def test_a_full_disk_at_the_chief_ends_all_and_keeps_the_checkpoints(tmp_path):
    program = in_training(tmp_path, "multi_worker")
    chief = processes_of(program)["worker", 0]
    resource.prlimit(chief, resource.RLIMIT_FSIZE, (3000, 3000))
    said = program.finish(SOON_S, code=1)
    assert "cannot be written: " in said
    assert "Nothing that was there is lost. Make room, then go on." in said
    assert "worker:0 ended with exit code 1; its log is" in said
    assert positions_in(RunFolder(tmp_path).last)


def faulty(tmp_path, faults, timeout_s):
    """Starts a cluster whose tasks have these faults; returns its programs."""
    workers = addresses(len(faults))
    module = "tests.clusters.faulty_program"
    return workers, [
        Program(
            module,
            [fault, timeout_s],
            tmp_path / f"{number}.log",
            tf_config({"worker": workers}, "worker", number),
        )
        for number, fault in enumerate(faults)
    ]


def test_a_port_that_is_taken_when_all_have_met_is_named(tmp_path):
    workers, [first, second] = faulty(tmp_path, ["none", "port_taken"], 5)
    try:
        said = second.finish(SOON_S, code=1)
        assert f"worker:1 cannot listen at {workers[1]}: another process has" in said
    finally:
        first.kill()


@pytest.mark.large
def test_one_that_is_stopped_when_all_have_met_is_named(tmp_path):
    _, [first, second] = faulty(tmp_path, ["none", "stopped"], 5)
    try:
        said = first.finish(2 * SOON_S, code=1)
        assert "DeadlineExceededError" in said
        assert tasks_in(said, "worker:0") == ["worker:1"]
    finally:
        second.kill()


@pytest.mark.large
def test_a_port_that_is_taken_before_it_is_bound_is_chosen_anew(
    tmp_path, monkeypatch, capsys
):
    first, second = free_ports(2), free_ports(2)
    chosen = iter([first, second])
    monkeypatch.setattr(local_cluster, "free_ports", lambda number: next(chosen))
    command = ["python", "-m", "tests.clusters.faulty_program", "none", "60"]
    monkeypatch.setattr(sys, "orig_argv", command)
    flags.FLAGS(["script"])
    with socket.create_server(("", first[1])):
        begin._train_here({"worker": 2}, RunFolder(tmp_path))
    assert "worker:1 ended with exit code 75" in capsys.readouterr().out
    assert f"worker:1 cannot listen on port {first[1]}" in logs_of(tmp_path)


@pytest.mark.large
@pytest.mark.parametrize("strategy", ["multi_worker", "parameter_server"])
def test_a_worker_that_is_stopped_is_named(tmp_path, strategy):
    program = in_training(tmp_path, strategy)
    stopped = time.monotonic()
    os.kill(processes_of(program)["worker", 1], signal.SIGSTOP)
    said = program.finish(2 * SOON_S, code=1)
    took = time.monotonic() - stopped
    print(f"figure: stopped worker of {strategy}: {took:.0f} s")  # noqa: T201
    assert re.search("has lost worker:1|worker:1 has not been heard of", said)
