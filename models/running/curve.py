"""The picture of a training run."""

import math
import pathlib
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from models.running.record import DEV

MARKERS = "osD^v<>"
LOSSES = {"loss": "training", DEV + "loss": "development"}


def draw_curve(epochs: Sequence[dict[str, Any]], path: pathlib.Path) -> None:
    """Writes the losses, and the other metrics of the development split, as a PNG."""
    metrics = [n for n in epochs[0] if n.startswith(DEV) and n not in LOSSES]
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw(left, epochs, LOSSES, "Loss")
    names = {name: name.removeprefix(DEV).replace("_", " ") for name in metrics}
    _draw(right, epochs, names, "Development split")
    figure.savefig(path, dpi=150)


def _draw(
    axes: Axes, epochs: Sequence[dict[str, Any]], names: dict[str, str], title: str
) -> None:
    numbers = [epoch["epoch"] for epoch in epochs]
    for marker, (name, label) in zip(MARKERS, names.items(), strict=False):
        values = [epoch.get(name, math.nan) for epoch in epochs]
        axes.plot(numbers, values, marker + "-", label=label)
    axes.set(title=title, xlabel="epoch")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
    axes.legend()
