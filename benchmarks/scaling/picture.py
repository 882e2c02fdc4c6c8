"""Throughput against machines, as Figure 10 of Jeong et al. (EuroSys 2018)."""

import pathlib
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator


def draw(
    path: pathlib.Path,
    predicted: Mapping[str, Mapping[str, Sequence[float]]],
    measured: Mapping[str, Sequence[float]],
) -> None:
    """Writes a PNG with a curve of trees/s for each link.

    Args:
        path: Of the picture.
        predicted: By the title of a part of the picture and by the name of a link: the
            trees/s of 1, 2, ... machines.
        measured: By title: the trees/s of 1, 2, ... workers.
    """
    figure = Figure(figsize=(4.5 * len(predicted), 3.8), layout="constrained")
    panels = figure.subplots(1, len(predicted), squeeze=False)[0]
    for axes, (title, links) in zip(panels, predicted.items(), strict=True):
        for i, (name, rates) in enumerate(links.items()):
            # Links that make no difference are seen beneath each other.
            width = max(1.5, 6 - 2 * i)
            axes.plot(range(1, len(rates) + 1), rates, "-", lw=width, label=name)
        count = max(map(len, links.values()))
        ideal = [machines * next(iter(links.values()))[0] for machines in (1, count)]
        axes.plot((1, count), ideal, "k:", label="ideal")
        points = measured[title]
        axes.plot(range(1, len(points) + 1), points, "k*", label="measured here")
        axes.set(title=title, xlabel="machines", ylabel="trees/s", ylim=(0, None))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(path, dpi=120)
