"""Runs the programs of this folder, each once for all tests of a run."""

import fcntl
import json
import os
import pathlib
import subprocess
import sys

from models.running import local_cluster

ROOT = pathlib.Path(__file__).parents[2]
TIMEOUT_S = 330  # Programs end by themselves before, and say where they stood.


def replicas(number, names, folder):
    """Returns what trainings find with some replicas in one process."""
    module, path = "tests.distribute.replicas_program", folder / f"{number}.json"

    def run():
        subprocess.run(
            [sys.executable, "-m", module, str(number), str(path), *names],
            cwd=ROOT,
            check=True,
            timeout=TIMEOUT_S,
        )

    return _once(run, path)


def cluster(program, jobs, names, folder):
    """Returns what the first process of a cluster writes."""
    module, path = f"tests.distribute.{program}", folder / f"{program}.json"

    def run():
        command = [sys.executable, "-m", module, str(path), *names]
        failed = local_cluster.run(command, jobs, folder / program)
        assert failed is None, f"{failed}:\n{failed.log.read_text()[-4000:]}"

    return _once(run, path)


def _once(run, path):
    """Returns what a program writes into a file, of whichever process ran it first."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            run()
    return json.loads(path.read_text())


def shared_folder(tmp_path_factory):
    """Returns a folder that all processes of a run of pytest have in common."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
