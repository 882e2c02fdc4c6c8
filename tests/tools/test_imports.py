"""Tests that need no TensorFlow do not import it: that takes a processor 4 s."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = """
import sys
import pytest

if pytest.main(["-q", "-p", "no:cacheprovider", sys.argv[1]]):
    sys.exit("a test failed")
if "tensorflow" in sys.modules:
    sys.exit("TensorFlow was imported")
"""


@pytest.mark.slow
def test_what_needs_no_tensorflow_imports_none():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "tests/tools/test_cc_units.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
