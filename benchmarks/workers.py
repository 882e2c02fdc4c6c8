"""Processes that answer requests, and are stopped while they have none."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# Tracing everything takes a minute where a machine is slow; more is a hang.
SECONDS_AN_ANSWER = 300.0
_END_OF_STDERR = 4000


class WorkerError(Exception):
    """A process died, or gave no answer in time; the message ends with its stderr."""


class Worker:
    """A process that answers each line of JSON with another one.

    What else it prints, such as the greetings of a library, is skipped.

    Between two requests it is stopped (SIGSTOP), so that none of its threads spins
    while another one is timed. It ends with its context, whatever happens, and has a
    session of its own: a Ctrl-C reaches only who started it. Not thread-safe.

    Attributes:
        name: What errors call it.
        hello: The first thing that it said.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        limit_s: float = SECONDS_AN_ANSWER,
    ) -> None:
        """Starts it and waits until it says that it is there.

        Args:
            name: E.g. "A1".
            command: What to run.
            environment: All of its environment.
            limit_s: The seconds that an answer, the first one too, may take.

        Raises:
            WorkerError: If it ends, or says nothing in time.
        """
        self.name = name
        self._limit_s = limit_s
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            bufsize=0,  # Or `select` does not see what was read already.
            env=dict(environment),
            start_new_session=True,
        )
        try:
            self.hello = self._answer()
            self._signal(signal.SIGSTOP)
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The process, as the system knows it."""
        return self._process.pid

    def ask(self, **request: Any) -> dict[str, Any]:
        """Returns the answer to a request; the process runs meanwhile.

        Raises:
            WorkerError: If it ends, or does not answer in time.
        """
        self._signal(signal.SIGCONT)
        # Of a process that is no more: _answer says why.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        answer = self._answer()
        self._signal(signal.SIGSTOP)
        return answer

    def close(self) -> None:
        """Ends the process, stopped or not."""
        self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
        self._stderr.close()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def _answer(self) -> dict[str, Any]:
        end = time.monotonic() + self._limit_s
        while True:
            left = max(0.0, end - time.monotonic())
            ready, _, _ = select.select([self._process.stdout], [], [], left)
            if not ready:
                raise WorkerError(
                    self._text(f"gave no answer in {self._limit_s:.0f} s")
                )
            line = self._process.stdout.readline()
            if not line:
                status = self._process.wait()
                raise WorkerError(self._text(f"died, with status {status}"))
            if line.startswith(b"{"):
                return dict(json.loads(line))

    def _text(self, what: str) -> str:
        """Returns what happened to it, and the last that it said."""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _END_OF_STDERR))
        said = self._stderr.read().decode(errors="replace").strip()
        return f"The process {self.name} {what}. The end of its stderr:\n{said}"


@contextlib.contextmanager
def ended_in_order() -> Iterator[None]:
    """Lets what ends this process unwind it, so that nothing that it started stays."""
    signals = (signal.SIGTERM, signal.SIGHUP)
    before = {
        number: signal.signal(number, lambda n, _: sys.exit(128 + n))
        for number in signals
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
