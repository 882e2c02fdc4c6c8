"""`rtf.simulate` runs the scheduler on measured times, and on any number of teams."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import recursive_tf as rtf
from recursive_tf.python.scheduling.profile import ProfiledGraph, this_machine

MS = 1_000_000
ALONE = "1x1 critical_path pinned"


def profile_of(
    times, waits, cores=2, shared=None, crowded=None, overhead=0.0, handing_over=0.0
):
    """Returns a profile of operations with these times, in ms.

    Args:
        times: On one thread.
        waits: What comes before what.
        cores: Of the machine.
        shared: On one team of all cores; the half if it is left out.
        crowded: On teams of one thread each; the same if it is left out.
        overhead: Of the whole run, in ms.
        handing_over: How much later an idle team begins, in ms.
    """
    shared = shared or [time / cores for time in times]
    by_schedule = {
        ALONE: times,
        f"1x{cores} critical_path pinned": shared,
        f"{cores}x1 critical_path pinned": crowded or times,
    }
    graph = ProfiledGraph(
        names=tuple(f"op{i}" for i in range(len(times))),
        types=("MatMul",) * len(times),
        waits=tuple(waits),
        runs=1.0,
        nanoseconds={
            schedule: tuple(int(MS * time) for time in each)
            for schedule, each in by_schedule.items()
        },
        handing_over={f"{cores}x1 critical_path pinned": int(MS * handing_over)},
    )
    seconds = {"": (1.0,)} | {
        schedule: ((sum(each) + overhead) / 1e3,)
        for schedule, each in by_schedule.items()
    }
    return rtf.Profile({**this_machine(), "cores": cores}, seconds, (graph,))


# A chain of 3 ms, and three operations of 1 ms that wait for nothing.
CHAIN = [1, 1, 1, 1, 1, 1]
CHAIN_WAITS = [(3, 4), (4, 5)]


def ms(simulation):
    return 1e3 * simulation.seconds


def test_the_critical_path_comes_first():
    profile = profile_of(CHAIN, CHAIN_WAITS)
    assert ms(rtf.simulate(profile, 2, 1)) == pytest.approx(3)
    # The three come first, and then two of the chain are left for one team.
    assert ms(rtf.simulate(profile, 2, 1, "first_come")) == pytest.approx(4)


def test_slices_tell_what_ran_where():
    found = rtf.simulate(profile_of(CHAIN, CHAIN_WAITS), 2, 1)
    chain = [each for each in found.slices if each.is_critical]
    assert [each.name for each in chain] == ["op3", "op4", "op5"]
    assert [each.start for each in chain] == pytest.approx([0, 1e-3, 2e-3])
    assert {each.executor for each in found.slices} == {0, 1}
    assert found.busy == pytest.approx(1)
    assert "3.00 ms, 100% busy (simulated)" in str(found)


def test_more_executors_than_ready_operations_are_idle():
    found = rtf.simulate(profile_of(CHAIN, CHAIN_WAITS), 10, 1)
    assert ms(found) == pytest.approx(3)
    assert found.busy == pytest.approx(6 / 30)


def test_threads_help_as_far_as_was_measured():
    # A quarter of it is serial: a + b = 4, a + b / 2 = 2.5.
    profile = profile_of([4], [], shared=[2.5])
    assert ms(rtf.simulate(profile, 1, 2)) == pytest.approx(2.5)
    assert ms(rtf.simulate(profile, 1, 4)) == pytest.approx(1 + 3 / 4)
    # What threads make slower is as slow with any number of them.
    slower = profile_of([4], [], shared=[9])
    assert [round(ms(rtf.simulate(slower, 1, t))) for t in (1, 2, 4)] == [4, 9, 9]


def test_teams_that_are_busy_at_once_interfere():
    profile = profile_of([1, 1], [], crowded=[1.5, 1.5])
    assert ms(rtf.simulate(profile, 1, 1)) == pytest.approx(2)
    # The first one starts alone.
    assert ms(rtf.simulate(profile, 2, 1)) == pytest.approx(1.5)


def test_a_team_that_was_idle_begins_later():
    profile = profile_of([1, 1, 1, 1], [(0, 1), (0, 2), (2, 3)], handing_over=0.2)
    found = {each.name: each for each in rtf.simulate(profile, 2, 1).slices}
    # op2 is more urgent than op1, so it stays where op0 ran.
    starts = [found[f"op{number}"].start for number in (0, 2, 3, 1)]
    assert starts == pytest.approx([0, 1e-3, 2e-3, 1.2e-3])
    assert [found[f"op{number}"].executor for number in range(4)] == [0, 1, 0, 0]
    # Whoever is busy all the time is not woken.
    alone = rtf.simulate(profile, 1, 1).slices
    assert [each.start for each in alone] == pytest.approx([0, 1e-3, 2e-3, 3e-3])


def test_what_comes_to_the_operations_is_shared_among_them():
    profile = profile_of([1, 1, 1, 1], [], overhead=2)
    assert ms(rtf.simulate(profile, 1, 1)) == pytest.approx(6)
    assert ms(rtf.simulate(profile, 2, 1)) == pytest.approx(3)


def test_small_operations_only_pass_on_that_they_are_done():
    profile = profile_of([1, 0.001, 1], [(0, 1), (1, 2)])
    found = rtf.simulate(profile, 2, 1)
    assert [each.name for each in found.slices] == ["op0", "op2"]
    assert found.slices[1].start == pytest.approx(found.slices[0].end)


def test_a_run_of_small_operations_alone_takes_what_it_takes_on_one_thread():
    profile = profile_of([0.001, 0.002], [(0, 1)], overhead=0.5)
    found = rtf.simulate(profile, 4, 2)
    assert ms(found) == pytest.approx(0.503)
    assert found.busy == 1 / 4
    assert found.slices == ()


@st.composite
def profiles(draw):
    count = draw(st.integers(1, 7))
    times = [draw(st.integers(1, 5)) for _ in range(count)]
    pairs = list(itertools.combinations(range(count), 2))
    waits = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return profile_of(times, waits), times, waits


@given(profiles(), st.integers(1, 4), st.sampled_from(["critical_path", "first_come"]))
def test_runs_are_schedules(made, executors, order):
    profile, times, waits = made
    found = rtf.simulate(profile, executors, 1, order)
    by_name = {each.name: each for each in found.slices}
    assert len(by_name) == len(times)
    for first, second in waits:
        assert by_name[f"op{first}"].end <= by_name[f"op{second}"].start + 1e-12
    for one, other in itertools.combinations(found.slices, 2):
        if one.executor == other.executor:
            assert one.end <= other.start + 1e-12 or other.end <= one.start + 1e-12
    longest = np.array(times, float)
    for first, second in sorted(waits, reverse=True):
        longest[first] = max(longest[first], times[first] + longest[second])
    # No schedule is below either, and whoever never idles is at most their sum
    # (Graham 1966).
    least = max(longest.max(), sum(times) / executors)
    assert least - 1e-6 <= ms(found) <= longest.max() + sum(times) / executors + 1e-6


def test_what_is_simulated_runs_once_and_has_no_loop():
    @tf.function
    def loop(x):
        return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x @ x), [0, x])

    profile = rtf.profile(loop, tf.ones([64, 64]), repeats=1, verbose=False)
    with pytest.raises(ValueError, match="has a loop"):
        rtf.simulate(profile, 2, 1)
    nothing = rtf.Profile(this_machine(), {"": (1.0,)}, ())
    with pytest.raises(ValueError, match="numbers of runs of graphs are: none"):
        rtf.simulate(nothing, 2, 1)


def test_counts_are_at_least_one():
    with pytest.raises(ValueError, match="both are at least 1"):
        rtf.simulate(profile_of(CHAIN, CHAIN_WAITS), 0, 1)
