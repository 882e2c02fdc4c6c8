"""What docs/models.md says of TD-TreeLSTM's speed, from the JSON of a run."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks import origin
from benchmarks.yardstick.tables import table

EXECUTORS = ("batched", "dataflow")


def speeds(found: Mapping[str, Any]) -> str:
    """Returns the trees/s of each step, and where they were measured."""
    return f"{origin.in_words(found)}\n\n{table_of(found['rows'])}"


def table_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """Returns medians, as a Markdown table."""
    lines = []
    for row in rows:
        b, d = (statistics.median(row["trees_per_s"][name]) for name in EXECUTORS)
        numbers = (f"{b:.0f}", f"{d:.0f}", f"{b / d:.1f}", f"{row['words']:.1f}")
        lines.append([str(row["batch"]), row["step"], *numbers])
    header = ["batch", "step", "batched, trees/s", "dataflow", "ratio", "words a tree"]
    return table(header, lines)


BLOCKS = {"speeds": speeds}
