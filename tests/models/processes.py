"""What tests do with the processes of a run, and with what these find."""

import json
import os
import pathlib
import re
import signal
import time

import pytest

from recursive_tf.training import RunFolder
from recursive_tf.training.checkpoints import positions_in


def task_of(pid):
    """Returns the job and the index of a process in its cluster, or None."""
    try:
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return None
    found = re.search(rb"TF_CONFIG=([^\0]*)", environment)
    return tuple(json.loads(found[1])["task"].values()) if found else None


def processes_of(program):
    """Returns the processes that a program has started, by their tasks."""
    path = pathlib.Path(f"/proc/{program.pid}/task/{program.pid}/children")
    return {task_of(int(pid)): int(pid) for pid in path.read_text().split()}


def kill(program, task):
    """Kills a process of those that a program has started."""
    os.kill(processes_of(program)[task], signal.SIGKILL)


def wait_for(condition, program):
    """Waits as long as a program runs."""
    while not condition():
        assert program.code is None, program.said()
        time.sleep(0.01)


def wait_for_step(folder, position, program):
    """Waits for a checkpoint of a position, or of a later one."""
    last = RunFolder(folder).last
    wait_for(lambda: any(p >= position for p in positions_in(last)), program)


def close(found, expected):
    """Asserts that figures are equal but for rounding."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-6)
