"""Block programs with one thread, and with each instruction set: a process for each."""

import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

ROOT = pathlib.Path(__file__).parents[2]
SECONDS = 300  # For a deadlock, not for a slow machine.


def run_step(*arguments, **variables):
    """Runs a step in a process with these environment variables."""
    return subprocess.run(
        [sys.executable, "-m", "tests.blocks.one_step", *arguments],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def bits_of(*arguments, **variables):
    """Returns what a step gives in a process with these environment variables."""
    done = run_step(*arguments, **variables)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "bits:" in done.stdout
    return done.stdout


@pytest.mark.large
def test_one_thread_is_enough():
    threads = {"TF_NUM_INTEROP_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1"}
    # And sums are in the same order as with more.
    assert bits_of("1", **threads) == bits_of()


def test_an_instruction_set_may_be_chosen():
    processor = pathlib.Path("/proc/cpuinfo").read_text()
    names = ["portable", *(name for name in ("avx2", "avx512dq") if name in processor)]
    found = {
        name: bits_of(RTF_INSTRUCTION_SET=name.removesuffix("dq")) for name in names
    }
    # Without fused rounding numbers differ in their last bits: so another one ran.
    if "avx2" in found:
        assert found["portable"] != found["avx2"]


def test_an_instruction_set_that_there_is_not_ends_the_import():
    done = run_step(RTF_INSTRUCTION_SET="avx1024")
    assert done.returncode != 0
    assert "ValueError: The environment variable RTF_INSTRUCTION_SET" in done.stderr
    assert "bits:" not in done.stdout
