"""A comparison as a Markdown table and as JSON."""

import dataclasses
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import table
from benchmarks.compare.pieces import Piece
from benchmarks.compare.rounds import ROLES, Measured
from benchmarks.compare.verdict import SLOWER, Interval, Verdict
from benchmarks.figures import Figure, number

HEADER = (
    "| figure | unit | A | B | B costs, times A | noise | verdict |",
    "|---|---|---|---|---|---|---|",
)
_THREADS = ("TF_NUM_INTEROP_THREADS", "TF_NUM_INTRAOP_THREADS", "OMP_NUM_THREADS")


def line(piece: Piece, runs: Mapping[str, Sequence[float]], verdict: Verdict) -> str:
    """Returns one line of the table: medians, with the smallest and largest run."""
    outcome = f"**{SLOWER}**" if verdict.outcome == SLOWER else verdict.outcome
    cells = (
        piece.name,
        piece.unit,
        _spread([*runs["A1"], *runs["A2"]]),
        _spread(runs["B"]),
        _interval(verdict.ratio),
        _interval(verdict.noise),
        outcome,
    )
    return f"| {' | '.join(cells)} |"


def _spread(runs: Sequence[float]) -> str:
    figure = Figure("", "", runs)
    return f"{number(figure.median)} ({number(min(runs))} to {number(max(runs))})"


def _interval(found: Interval) -> str:
    return f"{found.median:.3f} ({found.low:.3f} to {found.high:.3f})"


def write_json(
    path: pathlib.Path,
    pieces: Sequence[Piece],
    measured: Measured,
    verdicts: Sequence[Verdict],
    settings: Mapping[str, Any],
    where: Mapping[str, Any],
) -> None:
    """Writes every run of each role, and what they were measured on."""
    rows = {
        role: [
            Figure(piece.name, piece.unit, measured.runs[piece.name][role])
            for piece in pieces
        ]
        for role in ROLES
    }
    described = {
        **settings,
        "threads": {name: os.environ.get(name) for name in _THREADS},
        "processes": measured.hello,
        "rounds": measured.rounds,
        "verdicts": [dataclasses.asdict(verdict) for verdict in verdicts],
    }
    table.write_json(path, rows, described, where)
