"""What Cavs's optimizations bring, each by itself: its Figure 10.

    python -m benchmarks.cavs.optimizations
    python -m benchmarks.cavs.optimizations --quick     # only shows that it runs

A vertex scores each of many words, as in a language model. Lazy batching leaves the
products of the scores to the end, where they are one. Fusion compiles blocks. The third
optimization, streaming, is what `rtf.Schedule` does: docs/schedules.md.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

import recursive_tf as rtf
from benchmarks.cavs import fixed_lstm, page, sequences, times, tree_lstm
from benchmarks.cavs.program import VOCABULARY, product, random_variable
from benchmarks.cores import use_two_cores
from benchmarks.origin import origin, write

UNITS, SIZES = (64, 256), (16, 64)
PROGRAMS = {
    fixed_lstm.PROGRAM: sequences.vertex,
    tree_lstm.PROGRAM: tree_lstm.vertex,
}
OPTIMIZATIONS: dict[str, dict[str, Any]] = {
    "neither": {"blocks": "tensorflow", "lazy_pushes": False},
    "lazy batching": {"blocks": "tensorflow", "lazy_pushes": True},
    "fusion": {"blocks": "compiled", "lazy_pushes": False},
    "both": {"blocks": "compiled", "lazy_pushes": True},
}


def row_of(
    program: Any, units: int, size: int, words: int, effort: times.Effort
) -> dict[str, Any]:
    """Returns the speeds of a program with each of the optimizations."""
    weights, kernel = program.weights(units), random_variable(7, units, words)
    variables = [*weights.trainable_variables, kernel]
    forms = {
        name: PROGRAMS[program](
            weights,
            lambda h: product(h, kernel),
            rtf.Options(max_depth=None, **choices),
        )
        for name, choices in OPTIMIZATIONS.items()
    }
    batches = program.batches(effort.data, size, effort.batches)
    found = times.speeds_of_steps(forms, variables, batches, size, effort, program.name)
    return {"program": program.name, "units": units, "batch": size, **found}


def main(arguments: Sequence[str]) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cavs.optimizations")
    add = parser.add_argument
    add("--data", type=pathlib.Path, help="folder of real data")
    add("--only", nargs="*", help="names of programs")
    add("--quick", action="store_true", help="of small sizes, once")
    add("--json", type=pathlib.Path, help="file to write")
    asked = parser.parse_args(arguments)
    use_two_cores()
    effort = times.Effort(asked.data, 2, 5, 0.5)
    units, sizes, words = UNITS, SIZES, VOCABULARY
    if asked.quick:
        units, sizes, words = (8,), (2,), 10
        effort = times.Effort(asked.data, 1, 1, 0.0)
    programs = [p for p in PROGRAMS if not asked.only or p.name in asked.only]
    settings = list(itertools.product(programs, units, sizes))
    rows = [row_of(*each, words, effort) for each in tqdm(settings, desc="settings")]
    found = {**origin("benchmarks.cavs.optimizations", arguments), "rows": rows}
    print(page.optimizations(found))
    write(found, asked.json)


if __name__ == "__main__":
    main(sys.argv[1:])
