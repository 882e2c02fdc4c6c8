"""Starts workers on this machine, and returns what they found."""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

from benchmarks.scaling.jobs import Jobs, Steps, read_steps, write_jobs
from recursive_tf.distribute import Host, run_cluster

ONE_THREAD = {"TF_NUM_INTEROP_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1"}


def use_one_thread() -> None:
    """Lets each worker have one thread for ops, unless the environment says more."""
    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)


def alone(jobs: Jobs, copies: int = 1) -> list[list[Steps]]:
    """Runs processes at the same time, which know nothing of each other."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(_folder(jobs))
        started = [
            stack.enter_context(_process(folder, number)) for number in range(copies)
        ]
        for number, process in enumerate(started):
            if process.wait():
                log = _log(folder, number).read_text(errors="replace")
                raise RuntimeError(f"A worker failed. It said:\n{log}")
        return [read_steps(_steps(folder, number)) for number in range(copies)]


def together(
    jobs: Jobs, workers: int, hosts: Sequence[Host] = (Host(),)
) -> list[Steps]:
    """Runs the workers of a cluster, and returns what the first of them found."""
    with _folder(jobs) as folder:
        run_workers(_command(folder, 0), workers, folder / "logs", hosts)
        return read_steps(_steps(folder, 0))


def run_workers(
    command: Sequence[str], workers: int, logs: pathlib.Path, hosts: Sequence[Host]
) -> None:
    """Runs a command as each of the workers of a cluster."""
    failed = run_cluster(command, {"worker": workers}, logs, hosts, is_shown=False)
    if failed is not None:
        log = failed.log.read_text(errors="replace")
        raise RuntimeError(f"{failed.task} failed. It said:\n{log}")


@contextlib.contextmanager
def _folder(jobs: Jobs) -> Iterator[pathlib.Path]:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_jobs(folder / "jobs.json", jobs)
        yield folder


def _command(folder: pathlib.Path, number: int) -> list[str]:
    files = (folder / "jobs.json", _steps(folder, number))
    return [sys.executable, "-m", "benchmarks.scaling.worker", *map(str, files)]


def _steps(folder: pathlib.Path, number: int) -> pathlib.Path:
    return folder / f"steps-{number}.json"


def _log(folder: pathlib.Path, number: int) -> pathlib.Path:
    return folder / f"log-{number}"


@contextlib.contextmanager
def _process(folder: pathlib.Path, number: int) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has ended when the context does."""
    with (
        _log(folder, number).open("wb") as log,
        subprocess.Popen(
            _command(folder, number), stdout=log, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()
