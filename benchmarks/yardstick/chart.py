"""Trees/s by batch size, ours and those of all peers, as a picture."""

from __future__ import annotations

import itertools
import pathlib
import statistics
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, ScalarFormatter

from benchmarks.peers.command import MODES
from benchmarks.yardstick.systems import OURS, SYSTEMS
from benchmarks.yardstick.tables import rows_of

MARKERS = "osD^v<>pP*Xhd8"


def draw(found: Mapping[str, Any], work: str, path: pathlib.Path) -> None:
    """Writes a PNG: training on the left, inference on the right."""
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    axes = figure.subplots(1, len(MODES), sharey=True)
    for each, mode in zip(axes, MODES, strict=True):
        _draw(each, found, work, mode)
    axes[0].set_ylabel("trees/s")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", fontsize="small")
    figure.savefig(path, dpi=120)


def _draw(axes: Axes, found: Mapping[str, Any], work: str, mode: str) -> None:
    rows = rows_of(found, work, found["plan"]["optimizers"][0], mode)
    for marker, (name, system) in zip(itertools.cycle(MARKERS), SYSTEMS.items()):
        points = [
            (row["batch"], statistics.median(row["trees_per_s"][name]))
            for row in rows
            if name in row["trees_per_s"]
        ]
        if not points:
            continue
        style = {"lw": 2.5, "color": "black"} if name == OURS else {"lw": 1.2}
        dashes = "--" if system.is_ours and name != OURS else "-"
        axes.plot(
            *zip(*points, strict=True),
            dashes,
            marker=marker,
            label=system.title,
            **style,
        )
    axes.set(title=f"{work}, {mode}", xlabel="trees in a batch", xscale="log")
    axes.set_yscale("log")
    axes.set_xticks([row["batch"] for row in rows])
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.grid(alpha=0.3, which="both")
