"""How long a team that was idle takes to begin what another team made ready."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from recursive_tf.python.scheduling.links import in_order, links_of
from recursive_tf.python.scheduling.profile import ProfiledGraph
from recursive_tf.python.trace_events import Event


class _End(NamedTuple):
    """When the last one of some operations ended, and on which team."""

    time: int
    team: int


_NEVER = _End(0, -1)


def handing_over_ns(graph: ProfiledGraph, runs: Iterable[Sequence[Event]]) -> int:
    """Returns how long it takes to wake a team, in ns; 0 if none was woken.

    It is by how much later an operation begins on a team that was idle than on the team
    that made it ready, in the median. Operations that are too small for a team run in
    between, in both cases on the thread that made them ready.

    Args:
        graph: What ran, among others.
        runs: What happened in each run under a schedule.
    """
    delays: dict[bool, list[int]] = {False: [], True: []}
    links = links_of(graph)
    for events in runs:
        on_teams = {event.name: event for event in events if event.team >= 0}
        ready = _ready(graph, links, on_teams)
        for event, idle_since in _with_idle_times(on_teams.values()):
            end = ready.get(event.name, _NEVER)
            # Else its team had something else to do, or it waited for nothing.
            if end.team >= 0 and idle_since <= end.time:
                delays[end.team != event.team].append(event.start_ns - end.time)
    if not delays[True]:
        return 0
    kept = statistics.median(delays[False]) if delays[False] else 0
    return max(0, int(statistics.median(delays[True]) - kept))


def _ready(
    graph: ProfiledGraph,
    links: tuple[list[list[int]], list[int]],
    on_teams: Mapping[str, Event],
) -> dict[str, _End]:
    """Returns when the last operation on a team ended for which another one waits."""
    successors, num_waits = links
    last = [_NEVER] * len(graph.names)
    for number in in_order(successors, num_waits):
        event = on_teams.get(graph.names[number])
        # One that is too small for a team only passes on what it waited for.
        end = last[number] if event is None else _End(event.end_ns, event.team)
        for successor in successors[number]:
            last[successor] = max(last[successor], end)
    return dict(zip(graph.names, last, strict=True))


def _with_idle_times(events: Iterable[Event]) -> Iterator[tuple[Event, int]]:
    """Gives each event with the time at which its team had ended the one before."""
    ends: dict[int, int] = {}
    for event in sorted(events, key=lambda each: each.start_ns):
        if event.team in ends:
            yield event, ends[event.team]
        ends[event.team] = event.end_ns
