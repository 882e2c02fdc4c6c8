"""A picture of a training run."""

import pathlib
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from models.training import Epoch


def draw_curve(epochs: Sequence[Epoch], majority: float, path: pathlib.Path) -> None:
    """Writes losses and held-out accuracies by epoch as a PNG."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    losses, accuracies = figure.subplots(1, 2)
    _draw_losses(losses, epochs)
    _draw_accuracies(accuracies, epochs, majority)
    figure.savefig(path, dpi=150)


def _draw_losses(axes: Axes, epochs: Sequence[Epoch]) -> None:
    numbers = range(1, len(epochs) + 1)
    axes.plot(numbers, [e.train.loss_per_tree for e in epochs], "o-", label="training")
    axes.plot(
        numbers, [e.held_out.loss_per_tree for e in epochs], "s-", label="held out"
    )
    axes.set_ylim(bottom=0)
    _finish(axes, "Loss", "cross-entropy per tree")


def _draw_accuracies(axes: Axes, epochs: Sequence[Epoch], majority: float) -> None:
    numbers = range(1, len(epochs) + 1)
    roots = [100 * e.held_out.root_accuracy for e in epochs]
    nodes = [100 * e.held_out.node_accuracy for e in epochs]
    axes.plot(numbers, roots, "o-", label="roots")
    axes.plot(numbers, nodes, "s-", label="all nodes")
    axes.axhline(
        100 * majority, color="gray", linestyle="--", label="most common root label"
    )
    _finish(axes, "Accuracy on held-out trees", "percent")


def _finish(axes: Axes, title: str, ylabel: str) -> None:
    axes.set(title=title, xlabel="epoch", ylabel=ylabel)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
    axes.legend()
