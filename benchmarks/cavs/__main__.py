"""Speeds and launches of Cavs's programs, as vertex functions and as SubGraphs.

    python -m benchmarks.cavs                   # on generated data
    python -m benchmarks.cavs --data=DATA       # a folder with sst/
    python -m benchmarks.cavs --quick           # only shows that all of it runs

Both forms of a program have the same weights, and are measured in turn in one process.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import sys
from collections.abc import Sequence

from tqdm import tqdm

from benchmarks.cavs import page, times
from benchmarks.cavs.programs import PROGRAMS
from benchmarks.cores import use_two_cores
from benchmarks.origin import origin, write

BATCHES, UNITS = (1, 16, 64), (64, 256)
QUICK = ["--batch=2", "--units=8", "--batches=1", "--repeats=1", "--seconds=0"]


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Returns what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cavs")
    add = parser.add_argument
    add("--data", type=pathlib.Path, help="folder of real data")
    add("--batch", type=int, nargs="*", default=BATCHES, help="samples in a batch")
    add("--units", type=int, nargs="*", default=UNITS, help="of every cell")
    add("--batches", type=int, default=2, help="that a run goes through")
    add("--repeats", type=int, default=5, help="runs of each figure")
    add("--seconds", type=float, default=0.5, help="that a run takes at least")
    add("--only", nargs="*", help="names of programs")
    add("--quick", action="store_true", help="of small sizes, once")
    add("--json", type=pathlib.Path, help="file to write")
    asked = parser.parse_args(arguments)
    return parser.parse_args([*arguments, *QUICK]) if asked.quick else asked


def main(arguments: Sequence[str]) -> None:
    """Prints the table."""
    asked = parse(arguments)
    use_two_cores()
    effort = times.Effort(asked.data, asked.batches, asked.repeats, asked.seconds)
    programs = [p for p in PROGRAMS if not asked.only or p.name in asked.only]
    settings = list(itertools.product(programs, asked.units, asked.batch))
    rows = [times.row_of(*each, effort) for each in tqdm(settings, desc="settings")]
    found = {**origin("benchmarks.cavs", arguments), "rows": rows}
    for block in page.BLOCKS.values():
        print(block(found), end="\n\n")
    write(found, asked.json)


if __name__ == "__main__":
    main(sys.argv[1:])
