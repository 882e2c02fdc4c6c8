"""`rtf.trace`: what root calls do, as a timeline."""

import contextlib
import json
import os
import pathlib
import time
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from recursive_tf.python.trace_events import Event, recorded, recording_alone

_MICROSECOND = 1e3
# What chrome://tracing calls a color that stands out.
_CRITICAL = "terrible"


@contextlib.contextmanager
def trace(path: str | os.PathLike[str]) -> Iterator[None]:
    """Records what the root calls of this process do, and writes it as a timeline.

    Open the file in https://ui.perfetto.dev or chrome://tracing. Every root call is a
    slice. In the batched executor there are slices in it: a launch each, "forward" or
    "backward", and "deferred" for the gradients of captures. They have the name of
    their block, and the number of activations as `rows`. Where an `rtf.Schedule` holds,
    each of its executors is a row, with a slice for each operation; those of the
    critical path are marked.

        with rtf.trace("runs/step.json"):
            train_step(batch)

    Args:
        path: Of the file. Its folder is made if there is none. It is written at the
            end, also if the body raises.

    Raises:
        RuntimeError: If a trace is recorded already, in this thread or another; in a
            `tf.function`, which would only be recorded while it is traced.
        OSError: If the file cannot be written.
    """
    if not tf.executing_eagerly():
        raise RuntimeError(
            "rtf.trace in a tf.function would record its tracing, not its runs. Put it "
            "around the call of the function."
        )
    with recording_alone():
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
        # Opened at once, so that what is wrong with it is known before the body runs.
        with open(path, "w", encoding="utf-8") as file:
            start_ns = time.monotonic_ns()
            events: list[Event] = []
            try:
                with recorded(events):
                    yield
            finally:
                json.dump(_as_json(events, start_ns), file)


def _as_json(events: list[Event], start_ns: int) -> dict[str, Any]:
    """Returns the events in Chrome's trace event format."""
    lanes = _Lanes()
    pid = os.getpid()
    slices = [
        {
            "ph": "X",
            "name": event.name,
            "cat": event.category,
            "ts": (event.start_ns - start_ns) / _MICROSECOND,
            "dur": event.duration_ns / _MICROSECOND,
            "pid": pid,
            "tid": lanes.take(event),
            "args": {"rows": event.rows},
        }
        | ({"cname": _CRITICAL} if event.category.endswith("critical path") else {})
        for event in events
    ]
    names = [
        {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": n}}
        for tid, n in enumerate(lanes.names, 1)
    ]
    return {"traceEvents": names + slices, "displayTimeUnit": "ms"}


class _Lanes:
    """Where events are drawn: those of a lane nest, or follow each other.

    Calls in the dataflow executor that run at once may begin or end on one thread, so
    a thread may need several lanes.

    Attributes:
        names: By number, from 1.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self._of_thread: dict[int, list[int]] = {}
        # By thread: the number of the executor that it leads.
        self._executors: dict[int, int] = {}
        # By lane: when the events end that the next one could be in.
        self._ends: list[list[int]] = []

    def take(self, event: Event) -> int:
        """Returns the number of the lane of an event; events come by their start."""
        lanes = self._of_thread.setdefault(event.thread, [])
        if event.team >= 0:
            self._executors[event.thread] = event.team
        for lane in lanes:
            if self._fits(event, self._ends[lane]):
                break
        else:
            lane = self._add(event.thread, lanes)
        self._ends[lane].append(event.end_ns)
        return lane + 1

    def _add(self, thread: int, lanes: list[int]) -> int:
        more = f" ({len(lanes) + 1})" if lanes else ""
        self.names.append(f"{self._name(thread)}{more}")
        self._ends.append([])
        lanes.append(len(self._ends) - 1)
        return lanes[-1]

    def _name(self, thread: int) -> str:
        if thread in self._executors:
            return f"executor {self._executors[thread]}"
        return f"thread {list(self._of_thread).index(thread) + 1}"

    @staticmethod
    def _fits(event: Event, ends: list[int]) -> bool:
        while ends and ends[-1] <= event.start_ns:
            ends.pop()
        return not ends or event.end_ns <= ends[-1]
