"""What root calls did while the library's log of events was on."""

import contextlib
import dataclasses
import threading
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from recursive_tf.ops import library

# Held while events are recorded: there is one log in a process.
_recording = threading.Lock()


@dataclasses.dataclass(frozen=True)
class Event:
    """A root call, a launch of a block, or an operation of an executor.

    Attributes:
        name: Of the SubGraph, the block or the operation.
        category: "call" or "gradient of call"; "forward", "backward" or "deferred" of
            launches; others of operations.
        start_ns: When it began, by the clock of `time.monotonic_ns`.
        duration_ns: How long it took.
        thread: The number of the thread that it began on.
        rows: Of a call its rows, of a launch those of its block.
        team: The number of the executor of an `rtf.Schedule` that it ran on, or -1.
    """

    name: str
    category: str
    start_ns: int
    duration_ns: int
    thread: int
    rows: int
    team: int = -1

    @property
    def end_ns(self) -> int:
        """When it ended."""
        return self.start_ns + self.duration_ns


@contextlib.contextmanager
def recording_alone() -> Iterator[None]:
    """Holds the log of this process.

    Raises:
        RuntimeError: If it is held already.
    """
    if not _recording.acquire(blocking=False):
        raise RuntimeError(
            "A trace is being recorded already, and a process records one at a time. "
            "Let the other `with rtf.trace(...)` end first."
        )
    try:
        yield
    finally:
        _recording.release()


@contextlib.contextmanager
def recorded(events: list[Event]) -> Iterator[None]:
    """Appends what happens in its body; what is around something comes before it.

    Only for who holds the log.
    """
    _log(start=True)
    try:
        yield
    finally:
        events += _events(_log(start=False))


def _log(*, start: bool) -> Any:
    with tf.device("CPU:0"):
        return library.recursive_trace(start=start)


def _events(log: Any) -> list[Event]:
    names, categories, times = (x.numpy().tolist() for x in log)
    events = [
        Event(name.decode(), category.decode(), *numbers)
        for name, category, numbers in zip(names, categories, times, strict=True)
    ]
    return sorted(events, key=lambda event: (event.start_ns, -event.duration_ns))
