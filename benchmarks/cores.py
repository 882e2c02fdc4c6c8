"""Whether the processors that a parallel measurement counts on are really there.

A virtual machine may have two processors and be given the time of one. A figure
measured then says nothing about the program, so that it is measured again.
"""

import concurrent.futures
import hashlib
import os
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from benchmarks.timing import seconds_of

CORES = 2
# Of two cores; one that is away for a fifth of the time is not there.
ENOUGH = 1.8
# hashlib lets go of Python's lock for large buffers. About 10 ms.
_WORK = bytes(8 << 20)

T = TypeVar("T")


def use_two_cores() -> None:
    """Keeps this process, and those that it starts, on at most two processors.

    To be called before TensorFlow runs anything: it has a thread for each processor
    that it finds then.
    """
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])


def cores_now() -> float:
    """Returns how many cores two spinning threads are given, 1.0 to 2.0, in 40 ms.

    Compares the work of two threads with that of one just before.
    """
    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        list(pool.map(_spin, range(CORES)))  # Starts the threads.
        alone = seconds_of(lambda: _spin(0))
        together = seconds_of(lambda: list(pool.map(_spin, range(CORES))))
    return CORES * alone / together


def _spin(_: int) -> None:
    hashlib.sha256(_WORK).digest()


class Guarded(NamedTuple):
    """Runs between two probes.

    Attributes:
        runs: The results with both cores there, before and after; if there are none,
            of runs without.
        discarded: How many attempts were not counted.
        cores: What the probes around the counted runs saw, the lowest.
    """

    runs: list
    discarded: int
    cores: float

    @property
    def had_both_cores(self) -> bool:
        """Whether the runs say anything about parallel programs."""
        return self.cores >= ENOUGH

    def __str__(self) -> str:
        away = "" if self.had_both_cores else "NOT on two cores: "
        return f"{away}probe saw {self.cores:.2f}; {self.discarded} attempts discarded"


def run_with_both_cores(
    work: Callable[[], T],
    repeats: int,
    attempts: int,
    probe: Callable[[], float] = cores_now,
) -> Guarded:
    """Runs `work` until `repeats` runs had both cores, at most `attempts` times.

    A run is judged by the probes alone, never by its result.
    """
    counted: list[tuple[float, T]] = []
    tried = 0
    while len(counted) < repeats and tried < attempts:
        tried += 1
        before = probe()
        if before < ENOUGH:
            continue
        result = work()
        cores = min(before, probe())
        if cores >= ENOUGH:
            counted.append((cores, result))
    discarded = tried - len(counted)
    counted = counted or [(probe(), work()) for _ in range(repeats)]
    return Guarded([r for _, r in counted], discarded, min(c for c, _ in counted))
