"""Processes that hear from each other as long as they work together.

TensorFlow waits for an hour for a process that stops between meeting the others and
starting its server, and forever for a worker of a parameter server that stops. So the
connections over which processes met stay open, and each has a heart that beats.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping

from recursive_tf.distribute import heart
from recursive_tf.distribute.heart import BEAT, BYE, Times, received

TIMES = Times()

OnLost = Callable[[str], None]


class Lifeline(threading.Thread):
    """Lets others hear from this process, and hears from them.

    Thread safety: `leave` may be called from any thread.
    """

    def __init__(self, peers: Mapping[str, socket.socket], on_lost: OnLost) -> None:
        """Starts.

        Args:
            peers: Connections to other tasks, which are this object's from now on.
            on_lost: Is called once, in this thread, with what is wrong. If this process
                cannot run Python for some seconds, because TensorFlow waits, the heart
                prints what is wrong to the standard error, and kills the process.
        """
        super().__init__(daemon=True)
        self._on_lost = on_lost
        self._control, theirs = socket.socketpair()
        with theirs:
            self._heart = _start_heart(theirs, peers)
        for peer in peers.values():
            peer.close()
        self.start()

    def leave(self) -> None:
        """Tells others that this process is done, and hears no more."""
        with contextlib.suppress(OSError):  # The heart has ended, if all others left.
            self._control.send(BYE)
        self.join()

    def run(self) -> None:
        """Waits until the heart ends, or says that another process is lost."""
        with self._control:
            why = received(self._control).decode()
            if why:
                self._control.send(BEAT)
                self._on_lost(why)
        self._heart.wait()


def _start_heart(
    control: socket.socket, peers: Mapping[str, socket.socket]
) -> subprocess.Popen[bytes]:
    numbers = {task: peer.fileno() for task, peer in peers.items()}
    given = {
        "owner": os.getpid(),
        "control": control.fileno(),
        "peers": numbers,
        "times": dataclasses.asdict(TIMES),
    }
    return subprocess.Popen(
        [sys.executable, "-I", "-S", heart.__file__, json.dumps(given)],
        stdin=subprocess.DEVNULL,
        pass_fds=[control.fileno(), *numbers.values()],
        # Ctrl-C and Ctrl-Z are for the process alone.
        start_new_session=True,
    )
