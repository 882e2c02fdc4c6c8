"""The time of each network by executors x threads, as in Graphi's figure 6."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

SIZES = ("small", "medium", "large")
MARKERS = dict(zip(SIZES, "os^", strict=True))
ALONE = "1x64"


def draw(found: Mapping[str, Any], path: pathlib.Path) -> None:
    """Writes a PNG: a panel for each network, a line for each size."""
    names = list(dict.fromkeys(row["network"] for row in found["rows"]))
    figure = Figure(figsize=(11, 3.2), layout="constrained")
    axes = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for each, name in zip(axes, names, strict=True):
        _draw(each, [row for row in found["rows"] if row["network"] == name])
        each.set_title(name, fontsize="medium")
    axes[0].set_ylabel("time / that of 1x64")
    axes[0].legend(fontsize="small")
    figure.supxlabel("executors x threads (simulated from times of 2 cores)")
    figure.savefig(path, dpi=120)


def _draw(axes: Axes, rows: list[Mapping[str, Any]]) -> None:
    for row in rows:
        settings = [name for name in row["simulated"] if _cores(name) == 64]
        base = row["simulated"][ALONE]
        times = [row["simulated"][name] / base for name in settings]
        axes.plot(settings, times, marker=MARKERS[row["size"]], label=row["size"])
    axes.tick_params(axis="x", rotation=60, labelsize="small")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)


def _cores(setting: str) -> int:
    executors, threads = map(int, setting.split("x"))
    return executors * threads
