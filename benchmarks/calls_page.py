"""What README says of the cost of calls, from the JSON of `benchmarks.calls`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks import origin
from benchmarks.figures import number
from benchmarks.yardstick.tables import table


def summary(found: Mapping[str, Any]) -> str:
    """Returns a line for each figure, with its target."""
    lines = [
        [
            figure["figure"],
            f"{number(figure['median'])} {figure['unit']}",
            figure["target"] or "",
        ]
        for figures in found["rows"].values()
        for figure in figures
    ]
    return f"{origin.in_words(found)}\n\n" + table(
        ["figure", "median", "target"], lines
    )


BLOCKS = {"summary": summary}
