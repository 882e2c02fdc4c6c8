"""How long it takes to wake a team, from what happened in runs."""

from recursive_tf.python.scheduling.handing_over import handing_over_ns
from recursive_tf.python.scheduling.profile import ProfiledGraph
from recursive_tf.python.trace_events import Event


def graph_of(names, waits):
    return ProfiledGraph(
        names=tuple(names),
        types=("MatMul",) * len(names),
        waits=tuple((names.index(one), names.index(other)) for one, other in waits),
        runs=1.0,
        nanoseconds={},
    )


def event(name, start, end, team):
    return Event(name, "operation", start, end - start, thread=team, rows=0, team=team)


# a makes b, small, c and d ready; small makes e ready.
GRAPH = graph_of(
    ["a", "b", "small", "c", "d", "e"],
    [("a", "b"), ("a", "small"), ("a", "c"), ("a", "d"), ("small", "e")],
)
FIRST = event("x", 0, 50, 1)  # Of another graph, on the second team.


def test_it_is_how_much_later_an_idle_team_begins():
    run = [FIRST, event("a", 0, 100, 0), event("b", 104, 200, 0)]
    woken = event("c", 140, 200, 1)
    assert handing_over_ns(GRAPH, [[*run, woken]]) == 40 - 4
    # The order of events does not matter, and the median of all runs counts.
    later = event("c", 160, 200, 1)
    runs = [[woken, *run], [*run, later], [*run, later]]
    assert handing_over_ns(GRAPH, runs) == 60 - 4


def test_what_is_small_only_passes_on():
    run = [FIRST, event("a", 0, 100, 0), event("e", 130, 200, 1)]
    assert handing_over_ns(GRAPH, [run]) == 30
    # Something else ran on the thread that ran it.
    assert handing_over_ns(GRAPH, [[*run, event("small", 101, 105, -1)]]) == 30


def test_a_team_that_was_busy_was_not_woken():
    busy = event("x", 0, 120, 1)
    run = [busy, event("a", 0, 100, 0), event("b", 104, 200, 0)]
    assert handing_over_ns(GRAPH, [[*run, event("c", 124, 200, 1)]]) == 0


def test_what_begins_a_run_and_what_is_faster_elsewhere_do_not_count():
    assert handing_over_ns(GRAPH, []) == 0
    assert handing_over_ns(GRAPH, [[FIRST, event("a", 70, 100, 1)]]) == 0
    run = [FIRST, event("a", 0, 100, 0), event("b", 104, 200, 0)]
    assert handing_over_ns(GRAPH, [[*run, event("c", 101, 200, 1)]]) == 0
