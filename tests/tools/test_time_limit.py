"""A test that hangs is a failure with the stacks of all threads, and no lost run."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]

OPTIONS = ["-c", str(ROOT / "pyproject.toml"), "-o", "faulthandler_timeout=1"]
OPTIONS += ["-p", "no:cacheprovider"]
HANGS = {
    "in Python": "threading.Event().wait()",
    # A lock of C that nobody opens, while no other thread runs any Python.
    "with the interpreter's lock": "ctypes.PyDLL(None).pause()",
}


@pytest.mark.parametrize("hang", HANGS.values(), ids=HANGS)
def test_a_test_that_hangs_ends_with_the_stacks_of_its_threads(hang, tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import ctypes, threading\n"
        f"def wait_for_ever():\n    {hang}\n"
        "def test_it():\n    wait_for_ever()\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, str(tmp_path)],
        cwd=ROOT,
        # What the user adds for the suite's tests, a test of two lines does not know.
        env=os.environ | {"PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 1
    assert "Timeout (0:00:01)!" in done.stderr
    assert "in wait_for_ever" in done.stderr


def test_every_test_has_a_limit(pytestconfig):
    assert 0 < float(pytestconfig.getini("faulthandler_timeout")) <= 600
    assert pytestconfig.getini("faulthandler_exit_on_timeout") is True
