"""What a call takes in memory while it is alive, and what it leaves for its gradient.

*A live level*: a linear recursion has all of its levels alive at the deepest point, and
frees them on its way back, so the peak of the resident memory is the measure; it has
the allocator's losses in it, as the machine does. In a fresh process, first a shallow
call, then a deep one: what the peak grew by, divided by the levels between. Threads,
libraries and the program itself are in both and so cancel. An op is a node of the
traced body, both branches of its conditional counted.

*Kept for gradients*: between the forward pass and the gradient no level is alive, so
the bytes that are allocated, less those after the tape is gone, are exactly what was
kept. The tape is eager and stands around the traced call, to stop between the two.
"""

import functools
from typing import NamedTuple

import tensorflow as tf

from benchmarks.effort import Effort
from benchmarks.figures import Figure, at_most
from benchmarks.fresh import in_fresh_process
from benchmarks.programs import Program, count_ops, make_linear
from benchmarks.resident import in_use_bytes, peak_resident_bytes
from benchmarks.rows.linear import call
from benchmarks.timing import run_in_turn

EXTRA_OPS = (0, 30, 99)
SHALLOW = 1_000
KIB = 1024


class Level(NamedTuple):
    """Of one process: ops of the body, bytes of a live level, bytes kept of one."""

    ops: int
    live: float
    kept: float


def measure(effort: Effort) -> list[Figure]:
    """Returns KiB a level for bodies of several sizes, and bytes for one more op."""
    depths = effort.pick((100_000, 20_000), (4 * SHALLOW, 2 * SHALLOW))
    runs = run_in_turn(
        {
            str(extra): functools.partial(in_fresh_process, _run, extra, *depths)
            for extra in EXTRA_OPS
        },
        effort.repeats,
        "level",
    )
    levels = list(runs.values())
    return [
        *(_live(of_body) for of_body in levels),
        _live_per_op(levels[0], levels[-1]),
        *(_kept(of_body) for of_body in levels),
    ]


def _live(levels: list[Level]) -> Figure:
    ops = levels[0].ops
    return Figure(
        f"a live level, body of {ops} ops",
        "KiB",
        [level.live / KIB for level in levels],
        at_most(5 + 0.1 * ops),
        f"target: 5 + 0.1 x {ops}",
    )


def _live_per_op(small: list[Level], large: list[Level]) -> Figure:
    runs = [
        (high.live - low.live) / (high.ops - low.ops)
        for low, high in zip(small, large, strict=True)
    ]
    return Figure("a live level, one more op", "bytes", runs, at_most(0.1 * KIB))


def _kept(levels: list[Level]) -> Figure:
    return Figure(
        f"kept for the gradient of a level, body of {levels[0].ops} ops",
        "bytes",
        [level.kept for level in levels],
    )


def _run(extra_ops: int, depth: int, training_depth: int) -> Level:
    """Measures one body, inference first: later the peak says nothing."""
    program = make_linear(extra_ops)
    ops = count_ops(program)
    call(program, SHALLOW)
    before = peak_resident_bytes()
    call(program, depth)
    live = (peak_resident_bytes() - before) / (depth - SHALLOW)
    return Level(ops, live, _kept_bytes(program, training_depth))


def _kept_bytes(program: Program, depth: int) -> float:
    """Returns what a level leaves in memory between forward pass and gradient."""
    _forward(program, 1)  # Traces.
    held = _forward(program, depth)
    with_kept = in_use_bytes()
    del held
    return (with_kept - in_use_bytes()) / depth


def _forward(program: Program, depth: int) -> tf.GradientTape:
    """Returns the tape after a forward pass, ready for a gradient."""
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = program(tf.constant(depth), x)
    y.numpy()  # Waits.
    return tape
