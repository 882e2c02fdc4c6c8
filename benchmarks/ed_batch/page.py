"""What docs/policies.md says of ED-Batch's workloads, from the JSON of a run."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from benchmarks import origin
from benchmarks.yardstick.tables import table

POLICIES = ("depth", "agenda", "critical_path", "fsm")
PARTS = ("schedule", "gather", "blocks", "deferred")


def launches(found: Mapping[str, Any]) -> str:
    """Returns how many launches policies take, and where that was counted."""
    rows = [
        [
            row["workload"],
            *(str(row["launches"][policy]) for policy in POLICIES),
            str(row["least"]),
        ]
        for row in found["rows"]
    ]
    header = ["workload", *(f"`{policy}`" for policy in POLICIES), "bound"]
    return f"{origin.in_words(found)}\n\n{table(header, rows)}"


def speeds(found: Mapping[str, Any]) -> str:
    """Returns sentences/s, and what policies change of them."""
    rows = []
    for row in found["rows"]:
        cells = [row["workload"]]
        for runs in row["sentences_per_s"].values():
            medians = {name: statistics.median(each) for name, each in runs.items()}
            own = medians["critical_path"]
            cells.append(f"{own:.0f}")
            cells += [f"{own / medians[name]:.2f}" for name in ("agenda", "depth")]
        rows.append(cells)
    header = ["workload"]
    for kind in ("inference", "training"):
        header += [f"{kind}, sentences/s", "by agenda's", "by depth's"]
    return table(header, rows)


def parts(found: Mapping[str, Any]) -> str:
    """Returns on what the time of a training step goes."""
    rows = []
    for row in found["rows"]:
        step = row["training_step"]
        whole = sum(step["seconds"].values())
        shares = (f"{step['seconds'].get(part, 0.0) / whole:.0%}" for part in PARTS)
        copied = f"{step['bytes_copied'] / 1e6:.2f}"
        rows.append([row["workload"], f"{1e3 * whole:.1f}", *shares, copied])
    return table(["workload", "ms a step", *PARTS, "MB copied"], rows)


BLOCKS = {"launches": launches, "speeds": speeds, "parts": parts}
