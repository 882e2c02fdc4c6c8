"""Clocks, and programs measured in turn: machines are shared and speeds drift."""

import random
import time
from collections.abc import Callable, Mapping

from tqdm import tqdm


def seconds_of(work: Callable[[], object]) -> float:
    """Returns the time that `work` takes, once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def warm_seconds_of(work: Callable[[], object]) -> float:
    """Returns the time that `work` takes after it has run once.

    So nothing is in it that another program left behind: the C library's allocator
    puts off merging what was freed, at up to 1 us a call of a deep recursion, until
    somebody asks for something large.
    """
    work()
    return seconds_of(work)


def run_in_turn(
    programs: Mapping[str, Callable[[], float]], repeats: int, label: str = ""
) -> dict[str, list[float]]:
    """Runs every program `repeats` times, in a new random order each time.

    Args:
        programs: Each returns the figure of one run of its own.
        repeats: How often.
        label: Of the progress bar, which is shown on stderr only while it runs.

    Returns:
        The runs of each program.
    """
    runs: dict[str, list[float]] = {name: [] for name in programs}
    with tqdm(total=repeats * len(programs), desc=label, leave=False) as bar:
        for _ in range(repeats):
            for name in random.sample(list(programs), len(programs)):
                runs[name].append(programs[name]())
                bar.update()
    return runs
