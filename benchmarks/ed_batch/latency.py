"""Milliseconds of a batch, at the settings of ED-Batch's table 3.

    python -m benchmarks.ed_batch.latency               # on generated trees
    python -m benchmarks.ed_batch.latency --data=DATA   # a folder with sst/

A call of the model computes the states of all roots of a batch, which is made before.
"""

from __future__ import annotations

import argparse
import functools
import pathlib
import statistics
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import origin
from benchmarks.cores import use_two_cores
from benchmarks.ed_batch import tree_gru, tree_lstm
from benchmarks.ed_batch.workload import Batch, Workload, inference
from benchmarks.timing import run_in_turn, seconds_of
from benchmarks.yardstick.tables import number, table

# By workload, size of a batch and units: what the paper has of Cortex and of ED-Batch,
# in milliseconds, on a GPU.
PAPER = {
    ("TreeGRU", 10, 256): (2.30, 2.27),
    ("TreeGRU", 10, 512): (5.60, 3.04),
    ("TreeGRU", 20, 256): (3.73, 3.03),
    ("TreeGRU", 20, 512): (11.70, 3.70),
    ("TreeLSTM", 10, 256): (2.244, 2.78),
    ("TreeLSTM", 10, 512): (8.500, 4.70),
    ("TreeLSTM", 20, 256): (3.460, 3.52),
    ("TreeLSTM", 20, 512): (19.210, 4.82),
}
WORKLOADS = {module.WORKLOAD.name: module.WORKLOAD for module in (tree_gru, tree_lstm)}


def measure(
    units: Sequence[int], folder: pathlib.Path | None, batches: int, repeats: int
) -> list[dict[str, Any]]:
    """Returns the runs of each setting of the paper that has one of these units."""
    chosen = [key for key in PAPER if key[2] in units]
    runs = {}
    for name, size, width in chosen:
        workload = WORKLOADS[name]
        given = workload.batches(folder, size, batches)
        runs[name, size, width] = functools.partial(
            _milliseconds, _step(workload, width, given), given
        )
    found = run_in_turn(runs, repeats, "latency")
    return [
        {"workload": name, "batch": size, "units": width, "ms": times}
        for (name, size, width), times in found.items()
    ]


def _step(workload: Workload, units: int, batches: Sequence[Batch]) -> Any:
    step = inference(workload.model(units))
    for batch in batches:  # Traces, and touches memory first.
        step(*batch)
    return step


def _milliseconds(step: Any, batches: Sequence[Batch]) -> float:
    """Returns the mean of all batches."""
    seconds = seconds_of(lambda: [step(*batch).numpy() for batch in batches])
    return 1e3 * seconds / len(batches)


def latency(found: Mapping[str, Any]) -> str:
    """Returns the table, and where it was measured."""
    lines = []
    for row in found["rows"]:
        setting = row["workload"], row["batch"], row["units"]
        cortex, ed_batch = PAPER[setting]
        ours = statistics.median(row["ms"])
        lines.append([*map(str, setting), *map(number, (ours, cortex, ed_batch))])
    header = ["workload", "batch", "units", "recursive_tf, two cores, ms"]
    header += ["Cortex, GPU, ms", "ED-Batch, GPU, ms"]
    return f"{origin.in_words(found)}\n\n{table(header, lines)}"


BLOCKS = {"latency": latency}


def main(arguments: Sequence[str]) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ed_batch.latency")
    parser.add_argument("--data", type=pathlib.Path, help="folder of real data")
    parser.add_argument("--units", type=int, nargs="*", default=[256, 512])
    parser.add_argument("--batches", type=int, default=20, help="of a run")
    parser.add_argument("--repeats", type=int, default=9, help="runs of each figure")
    parser.add_argument("--json", type=pathlib.Path, help="file to write")
    asked = parser.parse_args(arguments)
    use_two_cores()
    rows = measure(asked.units, asked.data, asked.batches, asked.repeats)
    found = {**origin.origin("benchmarks.ed_batch.latency", arguments), "rows": rows}
    print(latency(found))
    origin.write(found, asked.json)


if __name__ == "__main__":
    main(sys.argv[1:])
