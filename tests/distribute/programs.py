"""Runs the programs of this folder, each once for all tests of a run."""

import fcntl
import json
import os

from tests.helpers.programs import Program, run_cluster

TIMEOUT_S = 330  # Programs end by themselves before, and say where they stood.


def replicas(number, names, folder):
    """Returns what trainings find with some replicas in one process."""
    path = folder / f"{number}.json"

    def run():
        module = "tests.distribute.replicas_program"
        program = Program(module, [number, path, *names], path.with_suffix(".log"))
        program.finish(TIMEOUT_S)

    return _once(run, path)


def workers(number, names, folder):
    """Returns what the first of as many workers finds with trainings."""
    return _cluster("worker_program", {"worker": number}, names, folder)


def parameter_server(folder):
    """Returns what the chief of two workers and a parameter server finds."""
    return _cluster("ps_program", {"chief": 1, "worker": 2, "ps": 1}, [], folder)


def _cluster(program, jobs, names, folder):
    """Returns what the first process of a cluster writes."""
    path = folder / f"{program}.json"

    def run():
        module = f"tests.distribute.{program}"
        run_cluster(module, jobs, [path, *names], folder / program)

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
