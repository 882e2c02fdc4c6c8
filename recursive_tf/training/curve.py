"""The picture of a training run."""

import itertools
import math
import pathlib
from collections.abc import Sequence
from typing import Any

from recursive_tf.optional import optional_module
from recursive_tf.training.record import DEV

MARKERS = "osD^v<>"
LOSSES = {"loss": "training", DEV + "loss": "development"}


def draw_curve(epochs: Sequence[dict[str, Any]], path: pathlib.Path) -> None:
    """Writes the losses, and the other metrics of the development split, as a PNG.

    Args:
        epochs: The lines of a record; at least one.
        path: Of the picture.

    Raises:
        ImportError: If matplotlib is not installed.
    """
    library = optional_module("matplotlib.figure", "A picture of a run")
    metrics = [n for n in epochs[0] if n.startswith(DEV) and n not in LOSSES]
    names = {name: name.removeprefix(DEV).replace("_", " ") for name in metrics}
    panels = [(LOSSES, "Loss")]
    if names:
        panels.append((names, "Development split"))
    figure = library.Figure(figsize=(4.5 * len(panels), 3.6), layout="constrained")
    [row] = figure.subplots(1, len(panels), squeeze=False)
    for axes, (lines, title) in zip(row, panels, strict=True):
        _draw(axes, epochs, lines, title)
    figure.savefig(path, dpi=150)


def _draw(
    axes: Any, epochs: Sequence[dict[str, Any]], names: dict[str, str], title: str
) -> None:
    numbers = [epoch["epoch"] for epoch in epochs]
    for marker, (name, label) in zip(itertools.cycle(MARKERS), names.items()):
        values = [epoch.get(name, math.nan) for epoch in epochs]
        axes.plot(numbers, values, marker + "-", label=label)
    axes.set(title=title, xlabel="epoch")
    axes.locator_params(axis="x", integer=True)
    axes.grid(alpha=0.3)
    axes.legend()
