"""What docs/benchmarks.md says of networks that are no recursions."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks import origin
from benchmarks.yardstick.tables import table

PLAIN = "tf.function"
PROGRAMS = (PLAIN, "dataflow", "batched")


def networks(found: Mapping[str, Any]) -> str:
    """Returns the table, and where it was measured."""
    return f"{origin.in_words(found)}\n\n{table_of(found['rows'])}"


def table_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """Returns medians of ratios, as a Markdown table."""
    header = ["network", "size", "batch", f"{PLAIN}, ms"]
    for executor in PROGRAMS[1:]:
        header += [f"{executor}: time", "processors' time"]
    return table(header, [_cells(row) for row in rows])


def _cells(row: Mapping[str, Any]) -> list[str]:
    plain = 1000 * statistics.median(row["seconds"][PLAIN])
    cells = [row["network"], row["size"], str(row["batch"]), f"{plain:.1f}"]
    for executor in PROGRAMS[1:]:
        for kind in ("seconds", "processor_seconds"):
            runs = zip(row[kind][executor], row[kind][PLAIN], strict=True)
            ratio = statistics.median(one / other for one, other in runs)
            cells.append(f"{ratio:.2f}")
    return cells


BLOCKS = {"networks": networks}


def schedules(found: Mapping[str, Any]) -> str:
    """Returns the table of schedules, and where it was measured."""
    return f"{origin.in_words(found)}\n\n{schedules_table(found['rows'])}"


def schedules_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Returns medians of ratios to TensorFlow's own schedule, as a Markdown table."""
    header = ["network", "size", "batch", "TensorFlow, ms", "1x2", "2x1"]
    header += ["best of TensorFlow's threads / 2x1", "first come / critical path"]
    header += ["simulated / measured, 1x2", "2x1"]
    return table(header, [_schedule_cells(row) for row in rows])


def _schedule_cells(row: Mapping[str, Any]) -> list[str]:
    seconds = {
        name.partition(" ")[0]: statistics.median(runs)
        for name, runs in row["seconds"].items()
    }
    orders = row["orders"]
    gain = statistics.median(orders["first_come"])
    gain /= statistics.median(orders["critical_path"])
    ratios = {name: seconds[name] / seconds[""] for name in ("1x2", "2x1")}
    guesses = {name: row["simulated"][name] / seconds[name] for name in ratios}
    threads = row.get("threads")
    return [
        row["network"],
        row["size"],
        str(row["batch"]),
        f"{1e3 * seconds['']:.1f}",
        *(f"{ratio:.2f}" for ratio in ratios.values()),
        f"{min(threads.values()):.2f}" if threads else "",
        f"{gain:.2f}",
        *(f"{guess:.2f}" for guess in guesses.values()),
    ]


SCHEDULE_BLOCKS = {"schedules": schedules}
