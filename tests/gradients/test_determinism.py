"""Where it is asked for, gradients are the same each time, or they are refused."""

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.traces_only]

PATIENCE_S = 300


def run(executor):
    command = [sys.executable, "-m", "tests.gradients.determinism_program", executor]
    return subprocess.run(
        command, timeout=PATIENCE_S, capture_output=True, text=True, check=False
    )


def test_those_of_the_batched_executor_are_the_same_each_time():
    ended = run("batched")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "1 different\n"


def test_those_of_the_dataflow_executor_are_refused():
    ended = run("dataflow")
    assert ended.returncode == 1
    assert "UnimplementedError" in ended.stderr
    assert "SubGraph 'bush' has no deterministic gradients." in ended.stderr
