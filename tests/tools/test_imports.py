"""Tests that need no TensorFlow do not import it: that takes a processor 4 s."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
TOOLS = ROOT / "tests/tools"
# What is about TensorFlow, or about what is built on it.
OF_TENSORFLOW = ("gate", "keras_gate", "language_table", "supply", "wheel")
# What runs programs in processes of their own, or only reads files.
OTHERS = (
    *("benchmarks/test_compare.py", "benchmarks/test_figures.py"),
    *("benchmarks/test_peer_environments.py", "benchmarks/test_workers.py"),
    *("blocks/test_no_memory.py", "blocks/test_processes.py"),
    *("processes/test_process_life.py", "properties/test_batched_share.py"),
)
# Of each test it is seen that its file, and what that imports, does without. Of the
# tests of one file, that fixtures and hooks do, too.
PROGRAM = """
import sys
import pytest

class Refuses:
    def find_spec(self, name, *_):
        if name == "tensorflow":
            raise RuntimeError("TensorFlow was imported")

sys.meta_path.insert(0, Refuses())
arguments = ["-q", "-p", "no:cacheprovider", "-k", "test_cc_units"]
sys.exit(pytest.main([*arguments, *sys.argv[1:]]))
"""


@pytest.mark.slow
def test_what_needs_no_tensorflow_imports_none():
    of_tools = set(TOOLS.glob("test_*.py"))
    needing = {TOOLS / f"test_{name}.py" for name in OF_TENSORFLOW}
    assert needing < of_tools
    others = [ROOT / "tests" / name for name in OTHERS]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *sorted(of_tools - needing), *others],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
