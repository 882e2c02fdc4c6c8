"""`rtf.profile`: measures a function under all schedules of a machine."""

import collections
import contextlib
import dataclasses
import itertools
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python.scheduling.handing_over import handing_over_ns
from recursive_tf.python.scheduling.parallel import parallel
from recursive_tf.python.scheduling.profile import (
    Profile,
    ProfiledGraph,
    ProfiledLaunches,
    this_machine,
    usable_cores,
)
from recursive_tf.python.scheduling.schedule import Schedule
from recursive_tf.python.trace_events import Event, recorded, recording_alone

# As many runs as executors measure by themselves (cc/tf/team_executor.cc), and some
# more.
_FIRST_RUNS = 10
_MEASURED_RUNS = 6
# What root calls and their launches are in the log of events.
_PARTS = ("call", "gradient of call", "forward", "backward", "deferred")


def profile(
    function: Callable[..., Any],
    *args: Any,
    repeats: int = 10,
    verbose: bool = True,
) -> Profile:
    """Measures a function under TensorFlow's schedule, and under those of teams.

    It tries each number of executors that, with the same number of threads each, take
    all cores. It also tries a single thread. It calls the function about 22 + `repeats`
    times under each schedule. Of recursive programs, it also measures each root call,
    and each launch of a block in the batched executor, by their numbers of rows.

        profile = rtf.profile(step, batch)
        print(profile)
        step = rtf.parallel(step, profile.schedule)

    A `tf.function` that trains goes on training while it is measured. So measure it
    with a copy of the model, or restore the model. Close other programs: with them, the
    figures are useless.

    Source: Graphi (Tang et al. 2018), section 4.2.

    Args:
        function: A `tf.function`, or another function that calls such; see
            `rtf.parallel`.
        *args: What it is called with.
        repeats: How many runs are timed under each schedule, in turn.
        verbose: Whether to show progress.

    Raises:
        TypeError: If `function` is no function.
        RuntimeError: If it is called while a `tf.function` is traced, or in a
            `with rtf.trace(...)`.
        ValueError: If `repeats` is less than 1.
    """
    if not callable(function):
        raise TypeError(
            "rtf.profile takes a function, and what it is called with, e.g. "
            f"rtf.profile(step, batch). Got {function!r}."
        )
    if repeats < 1:
        raise ValueError(f"repeats={repeats}: measure at least once.")
    if not tf.executing_eagerly():
        raise RuntimeError(
            "rtf.profile in a tf.function would measure its tracing, not its runs. "
            "Call it eagerly."
        )
    schedules = schedules_of(usable_cores())
    functions = {s.attribute(): parallel(function, s) for s in schedules}
    graphs: list[ProfiledGraph] = []
    launches = _LaunchTimes()
    bar = tf.keras.utils.Progbar(
        len(functions) + repeats, verbose=int(verbose), unit_name="round"
    )
    for attribute, scheduled in functions.items():
        for _ in range(_FIRST_RUNS):
            scheduled(*args)
        runs = _events(scheduled, args)
        if attribute:
            found = _operations(attribute, scheduled, args)
            graphs = _joined(graphs, [_with_handing_over(g, runs) for g in found])
        launches.add(attribute, itertools.chain(*runs))
        bar.add(1)
    seconds: dict[str, list[float]] = {attribute: [] for attribute in functions}
    random = np.random.default_rng(0)
    for _ in range(repeats):
        for attribute in random.permutation(list(functions)).tolist():
            start = time.perf_counter()
            functions[attribute](*args)
            seconds[attribute].append(time.perf_counter() - start)
        bar.add(1)
    times = {attribute: tuple(runs) for attribute, runs in seconds.items()}
    return Profile(this_machine(), times, tuple(graphs), launches.medians())


def schedules_of(cores: int) -> list[Schedule]:
    """Returns TensorFlow's own schedule, one thread, and all that take all cores.

    >>> [str(s).partition(",")[0] for s in schedules_of(2)][1:]
    ['1 executor of 1 thread', '1 executor of 2 threads', '2 executors of 1 thread']
    """
    counts = [k for k in range(1, cores + 1) if cores % k == 0]
    symmetric = [Schedule(k, cores // k) for k in counts]
    alone = [] if cores == 1 else [Schedule(1, 1)]
    return [Schedule(), *alone, *symmetric]


class _LaunchTimes:
    """How long launches and calls took."""

    def __init__(self) -> None:
        # By name, part and rows, and by schedule.
        self._times: dict[tuple[str, str, int], dict[str, list[int]]] = {}

    def add(self, attribute: str, events: Iterable[Event]) -> None:
        """Takes what happened in some runs under a schedule."""
        for event in events:
            if event.category in _PARTS:
                key = (event.name, event.category, event.rows)
                times = self._times.setdefault(key, collections.defaultdict(list))
                times[attribute].append(event.duration_ns)

    def medians(self) -> tuple[ProfiledLaunches, ...]:
        """Returns what was measured; what takes the longest comes first."""
        found = [
            ProfiledLaunches(
                name=name,
                part=part,
                rows=rows,
                runs=max(map(len, times.values())) / _MEASURED_RUNS,
                nanoseconds={s: int(statistics.median(t)) for s, t in times.items()},
            )
            for (name, part, rows), times in self._times.items()
        ]
        return tuple(sorted(found, key=lambda each: -each.nanoseconds_in_all()))


def _events(scheduled: Callable[..., Any], args: tuple[Any, ...]) -> list[list[Event]]:
    """Returns what happens in each of some runs."""
    runs: list[list[Event]] = [[] for _ in range(_MEASURED_RUNS)]
    with recording_alone():
        for events in runs:
            with recorded(events):
                scheduled(*args)
    return runs


def _operations(
    attribute: str, scheduled: Callable[..., Any], args: tuple[Any, ...]
) -> list[ProfiledGraph]:
    before = _runs(attribute)
    with _measuring():
        for _ in range(_MEASURED_RUNS):
            scheduled(*args)
    names, types, times, graphs, first, second, runs = _table(attribute)
    found = []
    for number, count in enumerate(runs.tolist()):
        # Graphs come in the order in which they were made.
        new = count - (before[number] if number < len(before) else 0)
        if new == 0:
            continue
        [rows] = np.nonzero(graphs == number)
        offset = int(rows[0]) if rows.size else 0
        of_graph = np.isin(first, rows)
        waits = np.stack([first[of_graph], second[of_graph]], axis=1) - offset
        found.append(
            ProfiledGraph(
                names=tuple(name.decode() for name in names[rows]),
                types=tuple(each.decode() for each in types[rows]),
                waits=tuple((int(a), int(b)) for a, b in waits),
                runs=new / _MEASURED_RUNS,
                nanoseconds={attribute: tuple(times[rows].tolist())},
            )
        )
    return found


def _with_handing_over(graph: ProfiledGraph, runs: list[list[Event]]) -> ProfiledGraph:
    [schedule] = graph.nanoseconds
    found = {schedule: handing_over_ns(graph, runs)}
    return dataclasses.replace(graph, handing_over=found)


def _joined(
    graphs: list[ProfiledGraph], more: list[ProfiledGraph]
) -> list[ProfiledGraph]:
    """Returns the graphs with the times under another schedule.

    TensorFlow numbers the operations of a function anew for each executor, but names
    them alike.
    """
    if not graphs:
        return more
    others = {frozenset(graph.names): graph for graph in more}
    return [_with_times(graph, others.get(frozenset(graph.names))) for graph in graphs]


def _with_times(graph: ProfiledGraph, other: ProfiledGraph | None) -> ProfiledGraph:
    if other is None:
        return graph
    times = dict(graph.nanoseconds)
    handing_over = {**graph.handing_over, **other.handing_over}
    for schedule, by_number in other.nanoseconds.items():
        by_name = dict(zip(other.names, by_number, strict=True))
        times[schedule] = tuple(by_name[name] for name in graph.names)
    return dataclasses.replace(graph, nanoseconds=times, handing_over=handing_over)


@contextlib.contextmanager
def _measuring() -> Iterator[None]:
    with tf.device("CPU:0"):
        library.recursive_measure_operations(measured=True)
        try:
            yield
        finally:
            library.recursive_measure_operations(measured=False)


def _table(attribute: str) -> list[Any]:
    with tf.device("CPU:0"):
        return [x.numpy() for x in library.recursive_scheduled_graphs(attribute)]


def _runs(attribute: str) -> list[int]:
    runs: list[int] = _table(attribute)[-1].tolist()
    return runs
