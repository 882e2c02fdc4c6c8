"""What a memory layout would bring to ED-Batch's workloads (section 3.2 there).

    python -m benchmarks.ed_batch.layout                   # on generated data
    python -m benchmarks.ed_batch.layout --data=DATA       # sst/, lattice/, wikiner/

For a recorded batch of each workload it is planned where each row of each launch
would stand, so that launches find what they read of earlier ones in order. Block
programs read rows where they stand; functions copy what is not in order.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tqdm import tqdm

import recursive_tf as rtf
from benchmarks import origin
from benchmarks.cores import use_two_cores
from benchmarks.ed_batch.arguments import chosen, parser_of
from benchmarks.ed_batch.workload import Batch, Workload, inference
from benchmarks.yardstick.tables import table
from recursive_tf.python.learning.layouts import plan_layout

KINDS = ("compiled", "tensorflow")


def found_of(
    workload: Workload, asked: argparse.Namespace, blocks: str
) -> dict[str, Any]:
    """Returns what a layout would bring to a batch, with blocks of a kind."""
    (batch,) = workload.batches(asked.data, asked.batch, 1)
    options = rtf.Options(blocks=blocks)
    run = inference(workload.model(asked.units, executor="batched", options=options))
    run(*batch)  # Compiles blocks.
    layout = plan_layout(lambda: run(*batch))
    return {**dataclasses.asdict(layout), "ms": runs_of(run, batch, asked.repeats)}


def runs_of(run: Any, batch: Batch, repeats: int) -> list[dict[str, float]]:
    """Returns how many ms several runs take, and how many of these gather rows."""
    found = rtf.explain(run)
    explanations = found if isinstance(found, rtf.Explanations) else [found]
    runs = []
    for _ in range(repeats):
        run(*batch)
        parts = [(each.seconds or {})["forward"] for each in explanations]
        times = {
            "all": sum(sum(part.values()) for part in parts),
            "gather": sum(part["gather"] for part in parts),
        }
        runs.append({name: round(1e3 * time, 3) for name, time in times.items()})
    return runs


def row_of(workload: Workload, asked: argparse.Namespace) -> dict[str, Any]:
    """Returns what is found of a workload."""
    found = {blocks: found_of(workload, asked, blocks) for blocks in KINDS}
    return {"workload": workload.name, **found}


def _cells(of_kind: Mapping[str, Any]) -> list[str]:
    functions, programs = of_kind["of_functions"], of_kind["of_programs"]
    both = {name: functions[name] + programs[name] for name in functions}
    copied = functions["all"] - functions["in_order"]
    saved = functions["in_order_planned"] - functions["in_order"]
    whole = statistics.median(run["all"] for run in of_kind["ms"])
    gather = statistics.median(run["gather"] / run["all"] for run in of_kind["ms"])
    return [
        f"{both['all'] / 1e3:.0f}",
        f"{both['in_order'] / max(both['all'], 1):.0%}",
        f"{both['in_order_planned'] / max(both['all'], 1):.0%}",
        f"{copied / 1e3:.0f}",
        f"{saved / 1e3:.0f}",
        f"{whole:.1f}",
        f"{gather:.0%}",
        f"{1e3 * of_kind['seconds']:.1f}",
    ]


def _table(found: Mapping[str, Any], blocks: str) -> str:
    header = ["workload", "kB read", "in order", "in order of the plan", "kB copied"]
    header += ["saved", "ms a run", "gather", "ms to plan"]
    rows = [[row["workload"], *_cells(row[blocks])] for row in found["rows"]]
    return table(header, rows)


def compiled(found: Mapping[str, Any]) -> str:
    """Returns the table of block programs, and where it was measured."""
    return f"{origin.in_words(found)}\n\n{_table(found, 'compiled')}"


def functions(found: Mapping[str, Any]) -> str:
    """Returns the table of functions."""
    return _table(found, "tensorflow")


BLOCKS = {"compiled": compiled, "functions": functions}


def main(arguments: Sequence[str]) -> None:
    """Prints the table."""
    asked = parser_of("benchmarks.ed_batch.layout", repeats=15).parse_args(arguments)
    use_two_cores()
    rows = [row_of(each, asked) for each in tqdm(chosen(asked), desc="workloads")]
    where = origin.origin("benchmarks.ed_batch.layout", arguments)
    found = {**where, "batch": asked.batch, "units": asked.units, "rows": rows}
    for block in BLOCKS.values():
        print(block(found), end="\n\n")
    origin.write(found, asked.json)


if __name__ == "__main__":
    main(sys.argv[1:])
