"""Processes that are started together end together, and say what they did."""

import json
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from recursive_tf.distribute import jobs_of, local_cluster

PRELUDE = """
import json, os, signal, sys, time
task = json.loads(os.environ["TF_CONFIG"])["task"]
number = task["index"]
print("this is", number, flush=True)
"""
SOON_S = 20.0


def run(program, folder, number=3):
    command = [sys.executable, "-c", PRELUDE + program]
    return local_cluster.run_cluster(command, {"worker": number}, folder)


def test_all_have_a_log_and_the_first_is_shown(tmp_path, capfdbinary):
    assert run("", tmp_path) is None
    for number in range(3):
        log = tmp_path / f"worker-{number}.log"
        assert log.read_text() == f"this is {number}\n"
    assert capfdbinary.readouterr().out == b"this is 0\n"


def test_a_strategy_without_other_processes_needs_no_cluster(tmp_path):
    for jobs in (jobs_of("none", 2), {"worker": 0}):
        with pytest.raises(
            ValueError, match=r"has no task\. .* run the command itself"
        ):
            local_cluster.run_cluster(["true"], jobs, tmp_path / "logs")
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_logs_may_be_text(tmp_path):
    assert run("", str(tmp_path / "logs"), 1) is None
    assert (tmp_path / "logs" / "worker-0.log").exists()


def test_each_knows_its_task_and_the_cluster(tmp_path):
    program = "print(os.environ['TF_CONFIG'])"
    assert run(program, tmp_path, 2) is None
    configs = [
        json.loads((tmp_path / f"worker-{i}.log").read_text().splitlines()[1])
        for i in range(2)
    ]
    assert [config["task"]["index"] for config in configs] == [0, 1]
    [cluster] = {json.dumps(config["cluster"]) for config in configs}
    assert len(set(json.loads(cluster)["worker"])) == 2


def test_when_the_first_ends_all_do(tmp_path, monkeypatch):
    monkeypatch.setattr(local_cluster, "PATIENCE_S", 0.5)
    start = time.monotonic()
    assert run("if number: time.sleep(1000)", tmp_path) is None
    assert time.monotonic() - start < SOON_S


def test_when_one_fails_all_end(tmp_path):
    program = """
if number == 1: sys.exit(7)
time.sleep(1000)
"""
    failed = run(program, tmp_path)
    assert (failed.task, failed.code) == ("worker:1", 7)
    log = tmp_path / "worker-1.log"
    assert str(failed) == f"worker:1 ended with exit code 7; its log is {log}"


def test_the_one_that_was_killed_is_named(tmp_path):
    program = """
if number == 2: os.kill(os.getpid(), signal.SIGKILL)
if number == 0: sys.exit(1)  # It lost the other one.
time.sleep(1000)
"""
    failed = run(program, tmp_path)
    assert (failed.task, failed.code) == ("worker:2", -signal.SIGKILL)
    assert "SIGKILL" in str(failed)


def test_one_that_does_not_want_to_end_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(local_cluster, "PATIENCE_S", 0.5)
    program = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if number == 1:
    time.sleep(1)
    sys.exit(7)
time.sleep(1000)
"""
    assert run(program, tmp_path).code == 7


STARTER = """
import pathlib, runpy, signal, sys
local_cluster = runpy.run_path(sys.argv[2])  # Without TensorFlow: at once.
# A shell that starts the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
program = '''
import os, time, pathlib, runpy, sys
runpy.run_path(sys.argv[2])["end_with_the_starter"]()
pathlib.Path(sys.argv[1], str(os.getpid())).touch()
time.sleep(1000)
'''
folder = pathlib.Path(sys.argv[1])
command = [sys.executable, "-c", program, *sys.argv[1:]]
local_cluster["run_cluster"](command, {"worker": 2}, folder / "logs")
"""


def is_there(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
    except FileNotFoundError:
        return False
    return state.split()[0] != "Z"


def wait_for(condition):
    ends = time.monotonic() + SOON_S
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.05)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_stays_when_the_starter_goes(tmp_path, how):
    def pids():
        return [int(path.name) for path in tmp_path.iterdir() if path.name.isdigit()]

    command = [sys.executable, "-c", STARTER, str(tmp_path), local_cluster.__file__]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as starter:
        try:
            wait_for(lambda: len(pids()) == 2)
            assert all(map(is_there, pids()))
            starter.send_signal(how)
            starter.wait(SOON_S)
        finally:
            starter.kill()  # One that stays would be waited for.
    wait_for(lambda: not any(map(is_there, pids())))
