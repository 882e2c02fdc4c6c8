"""Figures as a Markdown table and as JSON."""

import json
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.figures import Figure, number

HEADER = (
    "| figure | unit | target | median | min | max | reached | note |",
    "|---|---|---|---|---|---|---|---|",
)
_REACHED = {True: "yes", False: "**no**", None: ""}


def line(figure: Figure) -> str:
    """Returns one line of the table."""
    cells = (
        figure.name,
        figure.unit,
        str(figure.target or ""),
        number(figure.median),
        number(min(figure.runs)),
        number(max(figure.runs)),
        _REACHED[figure.is_reached],
        figure.note,
    )
    return f"| {' | '.join(cells)} |"


def as_json(figure: Figure) -> dict[str, Any]:
    """Returns what `line` shows, with every run."""
    return {
        "figure": figure.name,
        "unit": figure.unit,
        "target": str(figure.target) if figure.target else None,
        "median": figure.median,
        "runs": list(figure.runs),
        "reached": figure.is_reached,
        "note": figure.note,
    }


def write_json(
    path: pathlib.Path,
    rows: Mapping[str, Sequence[Figure]],
    settings: Mapping[str, Any],
    where: Mapping[str, Any],
) -> None:
    """Writes the figures of each row, and what they were measured with and on.

    Args:
        path: Of the file.
        rows: The figures of each.
        settings: Of the run.
        where: What `origin` says.
    """
    content = {
        **where,
        "settings": settings,
        "rows": {name: _all_as_json(figures) for name, figures in rows.items()},
    }
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _all_as_json(figures: Iterable[Figure]) -> list[dict[str, Any]]:
    return [as_json(figure) for figure in figures]
