"""What README and docs/benchmarks.md say, from the JSON of a session."""

from __future__ import annotations

import functools
import json
import pathlib
import statistics
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks import origin
from benchmarks.yardstick import chart, tables
from benchmarks.yardstick.systems import OURS, SYSTEMS

Found = Mapping[str, Any]

# What a user of TensorFlow would write without us.
BY_HAND_HERE = "tensorflow_by_hand"


def summary(found: Found) -> str:
    """Returns ours beside programs by hand and the others, a line for each step."""
    work = found["plan"]["works"][0]
    optimizer = found["plan"]["optimizers"][0]
    rows = tables.rows_of(found, work, optimizer)
    lines = [
        [
            f"{row['batch']}",
            row["mode"],
            f"{statistics.median(row['trees_per_s'][OURS]):.0f}",
            _of(row, BY_HAND_HERE),
            *(_best(row, by_hand) for by_hand in (True, False)),
        ]
        for row in sorted(rows, key=lambda row: row["batch"])
    ]
    header = ["batch", "step", "recursive_tf, trees/s"]
    header += ["of TensorFlow by hand", "of the best by hand", "of the best other"]
    return f"{origin.in_words(found)}\n\n" + tables.table(header, lines)


def _of(row: Mapping[str, Any], name: str) -> str:
    """Returns how many times the speed of a system ours has, if it was measured."""
    return f"{tables.ratio_to(row, name):.2f}" if name in row["trees_per_s"] else ""


def _best(row: Mapping[str, Any], by_hand: bool) -> str:
    """Returns how many times the speed of the best peer of a kind ours has."""
    ratios = {
        name: tables.ratio_to(row, name)
        for name in row["trees_per_s"]
        if not SYSTEMS[name].is_ours and SYSTEMS[name].by_hand == by_hand
    }
    if not ratios:
        return ""
    name = min(ratios, key=ratios.__getitem__)
    return f"{ratios[name]:.2f} ({SYSTEMS[name].title})"


def versions(found: Found) -> str:
    """Returns the versions of each system."""
    lines = [
        [
            SYSTEMS[name].title,
            ", ".join(f"{k} {v}" for k, v in hello["versions"].items()),
        ]
        for name, hello in found["systems"].items()
    ]
    return tables.table(["system", "versions"], lines)


def not_timed(found: Found) -> str:
    """Returns what is in no table, or that everything is."""
    return (
        tables.left_out(found)
        if found["left_out"]
        else "Every system is in every table."
    )


BLOCKS: dict[str, Callable[[Found], str]] = {
    "summary": summary,
    "machine": tables.machine,
    "gemm": tables.gemm,
    "behind": tables.behind,
    "versions": versions,
    "not_timed": not_timed,
    **{
        f"{work}_{part.__name__}": functools.partial(part, work=work)
        for work in ("treelstm", "treefc", "treernn")
        for part in (tables.speeds, tables.limits, tables.breakdown)
    },
}


def draw(path: pathlib.Path, folder: pathlib.Path) -> None:
    """Writes a chart for each work.

    Args:
        path: The JSON of a session.
        folder: Where to; files are named after works.
    """
    found = json.loads(path.read_text(encoding="utf-8"))
    for work in found["plan"]["works"]:
        chart.draw(found, work, folder / f"speed_{work}.png")
