"""What docs/benchmarks.md says of calls, from the JSON of `benchmarks.calls`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks import origin
from benchmarks.figures import number
from benchmarks.yardstick.tables import table

TRAINED = ("fib", "linear")


def summary(found: Mapping[str, Any]) -> str:
    """Returns the figures that have a target, and those of calls with gradients."""
    lines = [
        [
            figure["figure"],
            f"{number(figure['median'])} {figure['unit']}",
            figure["target"] or "",
        ]
        for row, figures in found["rows"].items()
        for figure in figures
        if figure["target"] or (row in TRAINED and "gradient" in figure["figure"])
    ]
    return f"{origin.in_words(found)}\n\n" + table(
        ["figure", "median", "target"], lines
    )


BLOCKS = {"summary": summary}
