"""Whether memory stays as it is over many steps, and over many calls.

Resident memory is what has to be flat: its growth from the hundredth step to the last.
It moves by a few MiB with what the allocator keeps, so bytes in use, which a leak must
raise, stand beside it. Forests are of 1 to 12 trees of 1 to 40 words; the first hundred
steps see every one of them, so that nothing later is larger. The calls are of a traced
linear recursion of depth 0 to 7. Each is one run: it takes minutes.
"""

import random
from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf
from tqdm import tqdm

from benchmarks.effort import Effort
from benchmarks.figures import Figure, at_most
from benchmarks.fresh import in_fresh_process
from benchmarks.programs import make_linear
from benchmarks.resident import in_use_bytes, resident_bytes
from benchmarks.treelstm_model import Size, make_steps, random_trees

SETTLED = 100
# What an allocator may move by over a run; a leak of 1 KiB a step is 10 MiB.
MAX_GROWTH_KIB = 4 * 1024
SMALL = Size(vocabulary=1_000, embedding=32, hidden=32)
KIB = 1024


class Reading(NamedTuple):
    """Memory of the process after a number of steps, in bytes."""

    steps: int
    resident: int
    in_use: int


def measure(effort: Effort) -> list[Figure]:
    """Returns resident memory by step, and its growth, for steps and for calls."""
    steps = in_fresh_process(_train, effort.pick(10_000, 2 * SETTLED))
    calls = in_fresh_process(_call, effort.pick(1_000_000, 10 * SETTLED))
    return [*_figures("training steps", steps), *_figures("calls", calls)]


def _figures(what: str, readings: list[Reading]) -> list[Figure]:
    settled, last = readings[0], readings[-1]
    many = last.steps - settled.steps
    growth = last.resident - settled.resident
    late = last.resident - readings[-2].resident
    in_use = last.in_use - settled.in_use
    return [
        *(
            Figure(
                f"resident after {reading.steps:,} {what}",
                "MiB",
                [reading.resident / KIB**2],
                note=f"{reading.in_use / KIB**2:.2f} MiB in use",
            )
            for reading in readings
        ),
        Figure(
            f"resident, growth over {many:,} {what}",
            "KiB",
            [growth / KIB],
            at_most(MAX_GROWTH_KIB),
            f"{growth / many:.1f} bytes each; {late / KIB:.0f} KiB of it after "
            f"{readings[-2].steps:,}",
        ),
        Figure(
            f"in use, growth over {many:,} {what}",
            "KiB",
            [in_use / KIB],
            note=f"{in_use / many:.1f} bytes each",
        ),
    ]


def _train(steps: int) -> list[Reading]:
    rng = random.Random(0)
    forests = [
        random_trees(rng.randint(1, 12), range(1, 41), SMALL, seed)
        for seed in range(SETTLED)
    ]
    step = make_steps(SMALL)["training"]

    def work(i: int) -> None:
        step(forests[i] if i < SETTLED else rng.choice(forests))

    return _readings(work, steps, "memory, training")


def _call(calls: int) -> list[Reading]:
    program = make_linear()
    x, depths = tf.constant(1.0), [tf.constant(depth) for depth in range(8)]
    return _readings(
        lambda i: program(depths[i % len(depths)], x), calls, "memory, calls"
    )


def _readings(work: Callable[[int], object], times: int, label: str) -> list[Reading]:
    """Works, and reads memory after 100, 1,000, ... times and at the end."""
    marks = {10**power for power in range(2, 10)} | {times}
    readings = []
    for i in tqdm(range(times), desc=label, leave=False, mininterval=1):
        work(i)
        if i + 1 in marks:
            readings.append(Reading(i + 1, resident_bytes(), in_use_bytes()))
    return readings
