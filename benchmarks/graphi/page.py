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
