"""Figures with their spread and, where there is one, the target they are to reach."""

import dataclasses
import statistics
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class Target:
    """A bound on the median of a figure, in the figure's unit."""

    bound: float
    at_least: bool = False

    def is_reached_by(self, value: float) -> bool:
        """Returns whether `value` is on the right side, the bound included."""
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'at least' if self.at_least else 'at most'} {number(self.bound)}"


def at_most(bound: float) -> Target:
    """Returns the target of a figure that is to be small."""
    return Target(bound)


def at_least(bound: float) -> Target:
    """Returns the target of a figure that is to be large."""
    return Target(bound, at_least=True)


@dataclasses.dataclass(frozen=True)
class Figure:
    """One line of a table.

    Attributes:
        name: What was measured, e.g. "fib(20), inference".
        unit: E.g. "us a call".
        runs: The figure of each run, at least one.
        target: None where the figure is for information.
        note: What a reader must know to believe it.
        is_valid: Whether it can be held against the target.
    """

    name: str
    unit: str
    runs: Sequence[float]
    target: Target | None = None
    note: str = ""
    is_valid: bool = True

    @property
    def median(self) -> float:
        """The middle run, or the mean of the two."""
        return statistics.median(self.runs)

    @property
    def is_reached(self) -> bool | None:
        """Whether the median reaches the target; None if that cannot be said."""
        if self.target is None or not self.is_valid:
            return None
        return self.target.is_reached_by(self.median)


def number(value: float) -> str:
    """Returns three digits, or all digits of what is before the point.

    >>> number(2.0341), number(0.01234), number(150321.7)
    ('2.03', '0.0123', '150322')
    """
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
