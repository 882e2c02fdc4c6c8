"""What a page says of Cavs's programs, from the JSON of a run."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from benchmarks import origin
from benchmarks.yardstick.tables import table

KINDS = ("training", "inference")


def speeds(found: Mapping[str, Any]) -> str:
    """Returns samples/s of both forms, their ratio, and launches."""
    rows = []
    for row in found["rows"]:
        cells = [row["program"], str(row["units"]), str(row["batch"])]
        for kind in KINDS:
            runs = row["samples_per_s"][kind]
            vertex, subgraph = (
                statistics.median(runs[form]) for form in ("vertex", "subgraph")
            )
            cells += [f"{vertex:.0f}", f"{subgraph:.0f}", f"{vertex / subgraph:.2f}"]
        launches = row["launches"]
        rows.append([*cells, str(launches["vertex"]), str(launches["subgraph"])])
    header = ["program", "units", "batch"]
    for kind in KINDS:
        header += [f"{kind}, vertex, samples/s", "SubGraph", "ratio"]
    header += ["launches, vertex", "SubGraph"]
    return f"{origin.in_words(found)}\n\n{table(header, rows)}"


BLOCKS = {"speeds": speeds}
