"""Python programs, each in a process of its own.

It is forked from one that has imported TensorFlow, which takes a processor 4 s.
"""

import multiprocessing
import os
import pathlib
import runpy
import sys
import textwrap
from multiprocessing import connection

from recursive_tf.distribute.local_cluster import HOST, free_ports, tf_config

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["recursive_tf", "models.tree_lstm"])


class Program:
    """What `python -m` runs: it starts, and is ended with this process at the latest.

    Args:
        module: Its name, or the path of its file.
        arguments: Of its command line.
        log: The file to which what it prints is added.
        environment: Variables, beside those of the first program's start.
    """

    def __init__(self, module, arguments, log, environment=None):
        arguments = [str(argument) for argument in arguments]
        self._process = SERVER.Process(
            target=_run, args=(module, arguments, log, environment or {}), daemon=True
        )
        self._process.start()
        self.log = log

    @property
    def pid(self):
        return self._process.pid

    @property
    def sentinel(self):
        """What `multiprocessing.connection.wait` waits for."""
        return self._process.sentinel

    @property
    def code(self):
        """Its exit code, or minus the signal that ended it; None while it runs."""
        return self._process.exitcode

    def said(self):
        return self.log.read_text()

    def finish(self, timeout_s, code=0):
        """Waits for its end, which has this code; returns what it said."""
        self._process.join(timeout_s)
        assert self.code == code, self.said()
        return self.said()

    def kill(self):
        self._process.kill()
        self._process.join()


def _run(module, arguments, log, environment):
    with log.open("ab") as file:
        for output in (1, 2):
            os.dup2(file.fileno(), output)
    os.environ.update(environment)
    sys.argv = [module, *arguments]
    if isinstance(module, pathlib.Path):
        runpy.run_path(str(module), run_name="__main__")
        return
    # By which a script starts itself anew.
    sys.orig_argv = [sys.executable, "-m", module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def run_code(code, folder, environment=None, timeout_s=500):
    """Returns what a program prints that is this code; it has to end well.

    Args:
        code: Python, indented or not.
        folder: For files.
        environment: Variables that it has beside those of all.
        timeout_s: For a deadlock, not for a slow machine.
    """
    path = folder / "program.py"
    path.write_text(textwrap.dedent(code))
    program = Program(path, [], folder / "program.log", environment)
    try:
        return program.finish(timeout_s)
    finally:
        program.kill()


def addresses(number):
    """Returns free ones of this machine."""
    return [f"{HOST}:{port}" for port in free_ports(number)]


def run_cluster(module, jobs, arguments, logs):
    """Runs a program once for each task, until the first task has ended.

    Args:
        module: Of the program.
        jobs: The number of tasks of each, e.g. {"worker": 2}.
        arguments: Of each.
        logs: A folder, made here.
    """
    logs.mkdir()
    cluster = {job: addresses(number) for job, number in jobs.items()}
    running = [
        Program(module, arguments, logs / f"{job}-{i}.log", tf_config(cluster, job, i))
        for job, number in jobs.items()
        for i in range(number)
    ]
    try:
        while running[0].code is None and not any(task.code for task in running):
            alive = [task.sentinel for task in running if task.code is None]
            connection.wait(alive)
    finally:
        failed = [task for task in running if task.code]
        for task in running:
            task.kill()
    assert not failed, "\n".join(f"{x.log.name}: {x.said()[-4000:]}" for x in failed)
