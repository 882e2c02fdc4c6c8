"""What may end its process runs in one of its own."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
# For a hang, on a machine that does other things too.
SECONDS = 500


def run_numbers(module, count, in_one_process):
    """Runs `python -m module FIRST COUNT` for all numbers below `count`.

    It fails with the last line that the module said if a process does not end well.
    """
    for first in range(0, count, in_one_process):
        some = min(in_one_process, count - first)
        done = subprocess.run(
            [sys.executable, "-m", module, str(first), str(some)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        last = "\n".join(done.stdout.splitlines()[-1:])
        how = f"{done.returncode} after: {last}\n{done.stderr[-3000:]}"
        assert done.returncode == 0, f"The process ended with {how}"
