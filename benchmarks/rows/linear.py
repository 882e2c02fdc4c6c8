"""What one call costs in a chain of calls, by its depth.

Nothing can run in parallel, and all levels are alive at the deepest point. *Warm* is in
a process that has been that deep before, so that the allocator has the memory: a run is
as many root calls in a row as make `WARM_CALLS` calls, after as many that are not
timed. The 0.1 to 0.3 ms of a `tf.function` call are at most 0.3 us a call, at depth
1,000, and are not subtracted.
*First touch* is the first call at its depth in a fresh process, after one at depth 1,
which traces and starts threads; the page faults are in it.
"""

import functools
import statistics
from collections.abc import Callable

import tensorflow as tf

from benchmarks.effort import Effort
from benchmarks.figures import Figure, Target, at_most
from benchmarks.fresh import in_fresh_process
from benchmarks.programs import Program, make_linear, with_gradient
from benchmarks.timing import run_in_turn, seconds_of, warm_seconds_of

DEPTHS = (1_000, 10_000, 100_000)
QUICK_DEPTHS = (20, 50, 100)
WARM_CALLS = 10_000
US = 1e6


def measure(effort: Effort) -> list[Figure]:
    """Returns us a call of each depth, how flat it is, and of first touches."""
    depths = effort.pick(DEPTHS, QUICK_DEPTHS)
    inference = in_fresh_process(_warm, depths, False, effort)
    training = in_fresh_process(_warm, depths, True, effort)
    touches = run_in_turn(
        {
            f"depth {depth:,}": functools.partial(in_fresh_process, _first_touch, depth)
            for depth in depths
        },
        effort.repeats,
        "linear, first touch",
    )
    return [
        *_figures("inference, warm", inference, at_most(10)),
        _flatness(inference),
        *_figures("inference, first touch", touches),
        *_figures("forward + gradient, warm", training),
    ]


def _figures(
    what: str, runs: dict[str, list[float]], target: Target | None = None
) -> list[Figure]:
    return [
        Figure(f"linear recursion, {depth}, {what}", "us a call", figures, target)
        for depth, figures in runs.items()
    ]


def _flatness(runs: dict[str, list[float]]) -> Figure:
    """Returns the median of the slowest depth by that of the fastest."""
    medians = [statistics.median(of_depth) for of_depth in runs.values()]
    return Figure(
        "linear recursion, slowest by fastest depth, warm",
        "ratio",
        [max(medians) / min(medians)],
        at_most(1.5),
        "of the medians",
    )


def _warm(
    depths: tuple[int, ...], training: bool, effort: Effort
) -> dict[str, list[float]]:
    """Returns us a call of each run, by depth, all depths in turn."""
    program = with_gradient(make_linear()) if training else make_linear()
    call(program, max(depths))  # Every depth then is warm.
    programs: dict[str, Callable[[], float]] = {
        f"depth {depth:,}": functools.partial(_us_a_call, program, depth)
        for depth in depths
    }
    label = "linear, " + ("training" if training else "inference")
    return run_in_turn(programs, effort.repeats, label)


def _us_a_call(program: Program, depth: int) -> float:
    times = max(1, WARM_CALLS // depth)
    seconds = warm_seconds_of(lambda: [call(program, depth) for _ in range(times)])
    return US * seconds / (times * depth)


def _first_touch(depth: int) -> float:
    """Returns us a call of the first call at `depth`."""
    program = make_linear()
    call(program, 1)
    return US * seconds_of(lambda: call(program, depth)) / depth


def call(program: Program, depth: int) -> float:
    """Runs a linear recursion of 1.0 to its end."""
    return float(program(tf.constant(depth), tf.constant(1.0)))
