"""Processes that hear from each other as long as they work together.

TensorFlow waits for an hour for a process that stops between meeting the others and
starting its server, and forever for a worker of a parameter server that stops. So the
connections over which processes met stay open, and each beats.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping

BEAT_S = 1.0
SILENCE_S = 30.0
# TensorFlow may say itself, and better, that another process is gone.
GRACE_S = 10.0
BEAT, BYE = b".", b"!"

OnLost = Callable[[str], None]


class Lifeline(threading.Thread):
    """Lets others hear from this process, and hears from them.

    Thread safety: `leave` may be called from any thread.
    """

    def __init__(self, peers: Mapping[str, socket.socket], on_lost: OnLost) -> None:
        """Starts.

        Args:
            peers: Connections to other tasks, which are this object's from now on.
            on_lost: Is called once, in this thread, with what is wrong.
        """
        super().__init__(daemon=True)
        self._peers = dict(peers)
        self._on_lost = on_lost
        self._leaves = threading.Event()
        self.start()

    def leave(self) -> None:
        """Tells others that this process is done, and hears no more."""
        self._leaves.set()
        self.join()

    def run(self) -> None:
        """Beats and hears until this process leaves, or one is lost."""
        heard = dict.fromkeys(self._peers, time.monotonic())
        try:
            while self._peers and not self._leaves.is_set():
                began = time.monotonic()
                self._send(BEAT)
                why = self._hear(heard)
                if time.monotonic() - began > SILENCE_S / 2:  # This one was stopped.
                    heard = dict.fromkeys(self._peers, time.monotonic())
                elif why is not None:
                    self._on_lost(why)
                    return
            self._send(BYE)
        finally:
            for peer in self._peers.values():
                peer.close()

    def _send(self, what: bytes) -> None:
        for peer in self._peers.values():
            peer.setblocking(False)
            with contextlib.suppress(OSError):  # To hear says more than to send.
                peer.send(what)

    def _hear(self, heard: dict[str, float]) -> str | None:
        """Listens for one beat; returns what is wrong, if anything is."""
        ends = time.monotonic() + BEAT_S
        while (rest := ends - time.monotonic()) > 0 and not self._leaves.is_set():
            ready, _, _ = select.select([*self._peers.values()], [], [], min(rest, 0.2))
            for task in [t for t, peer in self._peers.items() if peer in ready]:
                said = _received(self._peers[task])
                heard[task] = time.monotonic()
                if BYE in said:
                    self._peers.pop(task).close()
                elif not said:
                    return self._gone(task)
            if not self._peers:
                return None
        for task in self._peers:
            if time.monotonic() - heard[task] > SILENCE_S:
                return (
                    f"{task} has not been heard of for {SILENCE_S:.0f} s. Look into "
                    "its log: was it stopped, or can it not be reached any more?"
                )
        return None

    def _gone(self, task: str) -> str | None:
        if self._leaves.wait(GRACE_S):
            return None
        return f"{task} has ended before its work was done. Look into its log."


def _received(peer: socket.socket) -> bytes:
    try:
        return peer.recv(1 << 16)
    except BlockingIOError:
        return BEAT
    except OSError:
        return b""
