"""`rtf.simulate`: how long a profiled function would take on other teams."""

import dataclasses
import heapq
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from recursive_tf.python.scheduling.links import in_order, links_of
from recursive_tf.python.scheduling.profile import Profile, ProfiledGraph
from recursive_tf.python.scheduling.schedule import Schedule

_ALONE = "1x1 critical_path pinned"
# As in cc/tf/team_executor.cc.
_WORTH_A_TEAM_NS = 10_000
_STEPS = 32


@dataclasses.dataclass(frozen=True)
class Slice:
    """An operation in a simulated run.

    Attributes:
        name: Of the operation.
        executor: The number of the team that runs it.
        start: In seconds, from the start of the run.
        end: The same.
        is_critical: Whether it is on the longest path of its graph.
    """

    name: str
    executor: int
    start: float
    end: float
    is_critical: bool


@dataclasses.dataclass(frozen=True)
class Simulation:
    """A run as it would be.

    Attributes:
        schedule: What was simulated.
        seconds: How long the run takes: its makespan.
        busy: The share of it in which a team runs something, on average.
        slices: All that runs, by start.
    """

    schedule: Schedule
    seconds: float
    busy: float
    slices: tuple[Slice, ...]

    def __str__(self) -> str:
        """Returns it as a line."""
        return (
            f"{self.schedule}: {1e3 * self.seconds:.2f} ms, {self.busy:.0%} busy "
            "(simulated)"
        )


def simulate(
    profile: Profile, executors: int, threads: int, order: str = "critical_path"
) -> Simulation:
    """Returns how a profiled function would run on other teams, also on more cores.

    The scheduler is that of `rtf.Schedule`, with measured times:

    - An operation takes a + b / threads. Both are from its times on one thread and on
      all cores (Amdahl's law). One that takes longer on all cores takes as long on any
      number of threads, but one.
    - While several teams are busy, it takes longer by what was measured when all cores
      were: interference in caches and memory. With more cores than those it is taken
      to be the same, which is a guess.
    - A team that makes several operations ready runs one of them itself. Another team
      that was idle begins later, by what was measured on teams of one thread.
    - What operations take that are too small for a team, and what it takes to hand an
      operation to one, is the difference of a whole run and its operations, on one
      thread and on one team of all cores. Each operation has its share of it.

    Source: Graphi (Tang et al. 2018), section 4.3, algorithm 1.

    Args:
        profile: Of a function that makes one run of one graph without loops.
        executors: How many teams there are.
        threads: How many threads each team has.
        order: As of `rtf.Schedule`.

    Raises:
        ValueError: If the profile is of something else, or a count is less than 1.
    """
    schedule = Schedule(executors, threads, order)  # type: ignore[arg-type]
    graph = _graph_of(profile)
    model = _Times(profile, graph)
    levels, is_critical = _levels(graph, model.alone)
    if order == "first_come":
        levels = [0] * len(levels)
    runs = _Run(graph, model, levels, schedule)
    slices = tuple(
        dataclasses.replace(each, is_critical=is_critical[number])
        for number, each in runs.slices
    )
    if not slices:
        # Nothing is worth a team, so a run is what it is on one thread.
        seconds = statistics.median(profile.seconds[_ALONE])
        return Simulation(schedule, seconds, busy=1 / executors, slices=())
    busy = sum(each.end - each.start for each in slices)
    seconds = max(each.end for each in slices)
    return Simulation(schedule, seconds, busy / seconds / executors, slices)


def _graph_of(profile: Profile) -> ProfiledGraph:
    if len(profile.graphs) != 1 or profile.graphs[0].runs != 1:
        counts = ", ".join(f"{g.runs:g}" for g in profile.graphs) or "none"
        raise ValueError(
            "A simulation is of one graph that runs once, and here the numbers of runs "
            f"of graphs are: {counts}. Profile one tf.function by itself."
        )
    [graph] = profile.graphs
    if "NextIteration" in graph.types:
        raise ValueError(
            "This graph has a loop, whose number of turns no profile knows. Profile a "
            "function without tf.while_loop."
        )
    return graph


class _Times:
    """How long operations take on so many threads.

    Attributes:
        alone: Of each operation, on one thread, in ns.
        on_teams: Of each operation, whether it is worth a team.
        interference: By how much longer an operation takes while other teams are busy.
        handing_over: How much later an idle team begins than a busy one, in ns.
    """

    def __init__(self, profile: Profile, graph: ProfiledGraph) -> None:
        self._profile, self._graph = profile, graph
        cores = profile.machine["cores"]
        together = f"1x{cores} critical_path pinned"
        self.alone = self._nanoseconds(_ALONE)
        self.on_teams = self.alone >= _WORTH_A_TEAM_NS
        self._serial, self._least = self.alone, np.zeros_like(self.alone)
        if cores > 1:
            shared = self._nanoseconds(together)
            serial = (cores * shared - self.alone) / (cores - 1)
            self._serial = np.clip(serial, 0, self.alone)
            self._least = np.where(shared > self.alone, shared, 0)
        # Of one thread, and of more.
        self._overheads = (self._overhead(_ALONE), self._overhead(together))
        apart = f"{cores}x1 critical_path pinned"
        self.handing_over = graph.handing_over.get(apart, 0)
        crowded = self._nanoseconds(apart)
        ratio = crowded[self.on_teams].sum() / max(1, self.alone[self.on_teams].sum())
        self.interference = max(1.0, float(ratio))

    def of(self, number: int, threads: int, num_busy: int) -> float:
        """Returns the time of an operation in ns, while so many teams are busy."""
        serial = self._serial[number]
        time = serial + (self.alone[number] - serial) / threads
        if threads > 1:
            time = max(time, self._least[number])
        overhead = self._overheads[threads > 1]
        return float(time * (self.interference if num_busy > 1 else 1) + overhead)

    def _nanoseconds(self, schedule: str) -> Any:
        return np.array(self._graph.nanoseconds[schedule], float)

    def _overhead(self, schedule: str) -> float:
        """Returns what comes to the time of each operation on a team, in ns."""
        whole = 1e9 * statistics.median(self._profile.seconds[schedule])
        rest = whole - self._nanoseconds(schedule)[self.on_teams].sum()
        return max(0.0, float(rest)) / max(1, int(self.on_teams.sum()))


class _Run:
    """A run, from event to event."""

    def __init__(
        self,
        graph: ProfiledGraph,
        times: _Times,
        levels: Sequence[int],
        schedule: Schedule,
    ) -> None:
        self.slices: list[tuple[int, Slice]] = []
        self._graph, self._times, self._levels = graph, times, levels
        executors, self._threads = schedule.size
        self._successors, self._num_waits = links_of(graph)
        self._ready: list[tuple[int, int, int]] = []
        self._num_ready = 0
        self._idle = list(range(executors))
        # When operations end, and the teams that run them.
        self._ends: list[tuple[float, int, int]] = []
        for number, count in enumerate(list(self._num_waits)):
            if count == 0:
                self._make_ready(number)
        self._hand_out(0.0, heapq.heappop(self._idle))
        while self._ends:
            now, number, team = heapq.heappop(self._ends)
            self._end(number)
            self._hand_out(now, team)

    def _make_ready(self, number: int) -> None:
        # What is small ends at once; a list, because such operations are in chains.
        waiting = [number]
        while waiting:
            number = waiting.pop()
            if self._times.on_teams[number]:
                entry = (-self._levels[number], self._num_ready, number)
                heapq.heappush(self._ready, entry)
                self._num_ready += 1
            else:
                waiting += self._freed_by(number)

    def _freed_by(self, number: int) -> list[int]:
        freed = []
        for successor in self._successors[number]:
            self._num_waits[successor] -= 1
            if self._num_waits[successor] == 0:
                freed.append(successor)
        return freed

    def _end(self, number: int) -> None:
        for freed in self._freed_by(number):
            self._make_ready(freed)

    def _hand_out(self, now: float, awake: int) -> None:
        """Starts what is ready, the most urgent on the team that is awake."""
        self._start(now, awake)
        while self._ready and self._idle:
            self._start(now + self._times.handing_over, heapq.heappop(self._idle))

    def _start(self, start: float, team: int) -> None:
        if not self._ready:
            heapq.heappush(self._idle, team)
            return
        _, _, number = heapq.heappop(self._ready)
        num_busy = len(self._ends) + 1
        end = start + self._times.of(number, self._threads, num_busy)
        heapq.heappush(self._ends, (end, number, team))
        name = self._graph.names[number]
        where = Slice(name, team, start / 1e9, end / 1e9, is_critical=False)
        self.slices.append((number, where))


def _levels(
    graph: ProfiledGraph, times: Sequence[float]
) -> tuple[list[int], list[bool]]:
    """Returns what comes first, and what is on the longest path, of all operations."""
    successors, num_waits = links_of(graph)
    order = in_order(successors, num_waits)
    levels = list(times)
    for number in reversed(order):
        levels[number] += max((levels[s] for s in successors[number]), default=0)
    starts = [0.0] * len(levels)
    for number in order:
        for successor in successors[number]:
            starts[successor] = max(starts[successor], starts[number] + times[number])
    longest = max(levels)
    is_critical = [
        abs(start + level - longest) < 1
        for start, level in zip(starts, levels, strict=True)
    ]
    return [int(level * _STEPS // max(longest, 1)) for level in levels], is_critical
