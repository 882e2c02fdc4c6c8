"""A process that beats for another one, and hears the hearts of others.

TensorFlow may keep Python's interpreter while it waits for a worker that is stopped,
e.g. when it forgets a function there. Then no thread of that process can beat, nor hear
that the worker is silent. So the heart is a process of its own, a small one: it runs as
a script, and imports nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import select
import signal
import socket
import sys
import time
from collections.abc import Sequence

BEAT, BYE = b".", b"!"


@dataclasses.dataclass(frozen=True)
class Times:
    """How long things take, in seconds.

    Attributes:
        beat: From one beat to the next.
        silence: After which another process is lost.
        grace: TensorFlow may say itself, and better, that another process is gone.
        answer: In which a process answers that knows what is wrong.
    """

    beat: float = 1.0
    silence: float = 30.0
    grace: float = 10.0
    answer: float = 5.0


class Heart:
    """Beats for a process, and hears from its peers.

    Args:
        owner: The process's number.
        control: A connection to it. It says `BYE` when it is done, and nothing more
            when it has ended. It is told what is wrong, and answers that it knows.
        peers: Connections to the hearts of others, by task.
        times: How long things take.
    """

    def __init__(
        self,
        owner: int,
        control: socket.socket,
        peers: dict[str, socket.socket],
        times: Times,
    ) -> None:
        self._owner = owner
        self._control = control
        self._peers = peers
        self._times = times
        self._said: bytes | None = None

    def run(self) -> None:
        """Beats and hears until the process is done or has ended, or one is lost."""
        heard = dict.fromkeys(self._peers, time.monotonic())
        while self._peers and self._said is None:
            began = time.monotonic()
            if not _is_stopped(self._owner):
                self._send(BEAT)
            why = self._hear(heard)
            was_away = time.monotonic() - began > self._times.silence / 2
            if was_away or _is_stopped(self._owner):
                heard = dict.fromkeys(self._peers, time.monotonic())
            elif why is not None:
                self._tell(why)
                return
        if self._said == BYE:
            self._send(BYE)

    def _send(self, what: bytes) -> None:
        for peer in self._peers.values():
            peer.setblocking(False)
            with contextlib.suppress(OSError):  # To hear says more than to send.
                peer.send(what)

    def _hear(self, heard: dict[str, float]) -> str | None:
        """Listens for one beat; returns what is wrong, if anything is."""
        ends = time.monotonic() + self._times.beat
        while (rest := ends - time.monotonic()) > 0:
            connections = [self._control, *self._peers.values()]
            ready = _ready(connections, rest)
            if self._control in ready:
                self._said = received(self._control)
                return None
            for task in [t for t, peer in self._peers.items() if peer in ready]:
                said = received(self._peers[task])
                heard[task] = time.monotonic()
                if BYE in said:
                    self._peers.pop(task).close()
                elif not said:
                    return self._gone(task)
            if not self._peers:
                return None
        return self._silent(heard)

    def _silent(self, heard: dict[str, float]) -> str | None:
        silence = self._times.silence
        for task in self._peers:
            if time.monotonic() - heard[task] > silence:
                return (
                    f"{task} has not been heard of for {silence:.0f} s. Look into its "
                    "log: was it stopped, or can it not be reached any more?"
                )
        return None

    def _gone(self, task: str) -> str | None:
        if self._owner_says(self._times.grace) is not None:
            return None
        return f"{task} has ended before its work was done. Look into its log."

    def _owner_says(self, timeout_s: float) -> bytes | None:
        """Returns what the process says in some time, nothing if it ends; else None."""
        if _ready([self._control], timeout_s):
            self._said = received(self._control)
        return self._said

    def _tell(self, why: str) -> None:
        """Tells the process what is wrong; if it cannot listen, it says so and ends."""
        with contextlib.suppress(OSError):
            self._control.sendall(why.encode())
        if self._owner_says(self._times.answer) is None:
            print(why, file=sys.stderr, flush=True)  # noqa: T201
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._owner, signal.SIGKILL)


def _is_stopped(process: int) -> bool:
    """Says whether a process is stopped by a signal."""
    try:
        text = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] in ("T", "t")


def _ready(
    connections: Sequence[socket.socket], timeout_s: float
) -> list[socket.socket]:
    """Returns which of some connections have something to read, when the first has."""
    poll = select.poll()
    for connection in connections:
        poll.register(connection, select.POLLIN)
    found = {number for number, _ in poll.poll(1000 * timeout_s)}
    return [each for each in connections if each.fileno() in found]


def received(peer: socket.socket) -> bytes:
    """Returns what a peer says; nothing if it has ended."""
    try:
        return peer.recv(1 << 16)
    except BlockingIOError:
        return BEAT
    except OSError:
        return b""


def main() -> None:
    """Is the heart of the process that started this one."""
    given = json.loads(sys.argv[1])
    Heart(
        given["owner"],
        socket.socket(fileno=given["control"]),
        {task: socket.socket(fileno=number) for task, number in given["peers"].items()},
        Times(**given["times"]),
    ).run()


if __name__ == "__main__":
    main()
