"""Starts the processes of a cluster on this machine, and ends them all."""

import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

HOST = "127.0.0.1"
IS_LOCAL = "RECURSIVE_TF_LOCAL_CLUSTER"
# The exit code of a process whose port another one has taken since it was chosen.
PORT_TAKEN = os.EX_TEMPFAIL
PATIENCE_S = 10.0
POLL_S = 0.1


@dataclasses.dataclass(frozen=True)
class Host:
    """Where a task runs.

    Attributes:
        address: At which the others find it.
        prefix: What its command begins with, e.g. ("ip", "netns", "exec", "left").
    """

    address: str = HOST
    prefix: Sequence[str] = ()


@dataclasses.dataclass(frozen=True)
class FailedTask:
    """A process that ended as it should not.

    Attributes:
        task: Which one, e.g. "worker:1".
        code: Its exit code, or minus the signal.
        log: What it said.
    """

    task: str
    code: int
    log: pathlib.Path

    @property
    def may_start_again(self) -> bool:
        """Whether all may do better: it was killed, or had lost its port."""
        return self.code < 0 or self.code == PORT_TAKEN

    def __str__(self) -> str:
        how = f"exit code {self.code}"
        if self.code < 0:
            how = signal.Signals(-self.code).name
        return f"{self.task} ended with {how}; its log is {self.log}"


def run_cluster(
    command: Sequence[str],
    jobs: Mapping[str, int],
    logs: str | os.PathLike[str],
    hosts: Sequence[Host] = (Host(),),
    *,
    is_shown: bool = True,
) -> FailedTask | None:
    """Runs a command once for each task, until the first task has ended or one fails.

    All processes have ended when this returns, also if it is interrupted; and they end
    if this process does, once they have called `make_distribution`.

    Args:
        command: It finds what its task is in TF_CONFIG.
        jobs: The number of tasks of each, e.g. {"worker": 2}. The first task of the
            first job leads; when it has ended, so has the run.
        logs: A folder, made here: a log for each task.
        hosts: Where tasks run, in turn.
        is_shown: Whether what the first task says is shown, too.

    Returns:
        The first process that failed, if one did.

    Raises:
        ValueError: If there is no task.
    """
    logs = pathlib.Path(logs)
    tasks = [(job, i) for job, number in jobs.items() for i in range(number)]
    if not tasks:
        raise ValueError(
            f"jobs={dict(jobs)} has no task. Name one, e.g. {{'worker': 2}}; a "
            "strategy without other processes needs no cluster: run the command itself."
        )
    logs.mkdir(parents=True, exist_ok=True)
    places = dict(zip(tasks, itertools.cycle(hosts), strict=False))
    ports = iter(free_ports(len(tasks)))
    cluster = {
        job: [f"{places[job, i].address}:{next(ports)}" for i in range(number)]
        for job, number in jobs.items()
    }
    threads = max(1, (os.cpu_count() or 1) // len(tasks))
    with contextlib.ExitStack() as stack:
        running = {}
        for job, number in tasks:
            environment = {
                # With one alone, a server of a cluster waits for itself.
                "TF_NUM_INTEROP_THREADS": str(max(2, threads)),
                "TF_NUM_INTRAOP_THREADS": str(threads),
                **os.environ,
                **tf_config(cluster, job, number),
                IS_LOCAL: "1",
            }
            log = logs / f"{job}-{number}.log"
            own = [*places[job, number].prefix, *command]
            is_first = (job, number) == tasks[0]
            process = _process(own, environment, log, is_shown and is_first)
            running[f"{job}:{number}"] = stack.enter_context(process)
        return _first_failure(running, logs)


def tf_config(
    cluster: Mapping[str, Sequence[str]], job: str, number: int
) -> dict[str, str]:
    """Returns the variable that tells a process which task of a cluster it is.

    Args:
        cluster: The addresses of the tasks of each job.
        job: Of the process.
        number: Of its task.
    """
    config = {"cluster": cluster, "task": {"type": job, "index": number}}
    return {"TF_CONFIG": json.dumps(config)}


def is_one_of_these() -> bool:
    """Whether `run_cluster` started this process."""
    return bool(os.environ.get(IS_LOCAL))


def end_with_the_starter() -> None:
    """Ends this process when the one that started it is gone, if `run_cluster` did."""
    if is_one_of_these():
        threading.Thread(target=_end_at_eof, daemon=True).start()


def _end_at_eof() -> None:
    os.read(0, 1)  # The starter never writes.
    os._exit(1)


def free_ports(number: int) -> list[int]:
    """Returns ports that nobody had a moment ago."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in sockets]


@contextlib.contextmanager
def _process(
    command: Sequence[str],
    environment: Mapping[str, str],
    log: pathlib.Path,
    is_shown: bool,
) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose output is logged; it has ended when the context does."""
    with (
        log.open("ab") as file,
        subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if is_shown else file,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for the starter.
        ) as process,
    ):
        reader = None
        if is_shown:
            reader = threading.Thread(target=_show, args=(process.stdout, file))
            reader.start()
        try:
            yield process
        finally:
            _end(process)
            if reader is not None:
                reader.join()


def _show(output: BinaryIO, log: BinaryIO) -> None:
    """Copies output to the screen and a log as it comes, progress bars too."""
    while part := os.read(output.fileno(), 1 << 16):
        log.write(part)
        log.flush()
        sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.send_signal(signal.SIGCONT)  # One that is stopped would not notice.
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()


def _first_failure(
    running: Mapping[str, subprocess.Popen[bytes]], logs: pathlib.Path
) -> FailedTask | None:
    leader = next(iter(running))
    while not _failures(running) and running[leader].poll() is None:
        time.sleep(POLL_S)
    if running[leader].poll() == 0:
        for task, process in running.items():
            if task.partition(":")[0] == leader.partition(":")[0]:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(PATIENCE_S)  # The leader's peers end as it does.
        return None
    time.sleep(POLL_S)  # When one is killed, others fail for that at once.
    code, task = min(_failures(running))  # A signal is a negative code.
    return FailedTask(task, code, logs / f"{task.replace(':', '-')}.log")


def _failures(running: Mapping[str, subprocess.Popen[bytes]]) -> list[tuple[int, str]]:
    codes = {task: process.poll() for task, process in running.items()}
    return [(code, task) for task, code in codes.items() if code]
