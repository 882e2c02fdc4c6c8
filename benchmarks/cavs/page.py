"""What a page says of Cavs's programs, from the JSON of a run."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import origin
from benchmarks.yardstick.tables import table

KINDS = ("training", "inference")


def speeds(found: Mapping[str, Any]) -> str:
    """Returns samples/s of both forms, their ratio, and launches."""
    rows = []
    for row in found["rows"]:
        cells = [row["program"], str(row["units"]), str(row["batch"])]
        for kind in KINDS:
            runs = row["samples_per_s"][kind]
            vertex, subgraph = (
                statistics.median(runs[form]) for form in ("vertex", "subgraph")
            )
            cells += [f"{vertex:.0f}", f"{subgraph:.0f}", f"{vertex / subgraph:.2f}"]
        launches = row["launches"]
        rows.append([*cells, str(launches["vertex"]), str(launches["subgraph"])])
    header = ["program", "units", "batch"]
    for kind in KINDS:
        header += [f"{kind}, vertex, samples/s", "SubGraph", "ratio"]
    header += ["launches, vertex", "SubGraph"]
    return f"{origin.in_words(found)}\n\n{table(header, rows)}"


def optimizations(found: Mapping[str, Any]) -> str:
    """Returns how many times as fast each choice is as the first, which is without."""
    first, *others = found["rows"][0]["training"]
    settings = ["program", "units", "batch"]
    return _of_first(found, settings, [f"{first}, samples/s", *others])


def messages(found: Mapping[str, Any]) -> str:
    """Returns how many times as fast each form is as plain TensorFlow."""
    forms = ["TensorFlow, people/s", "vertex function", "SubGraph"]
    return _of_first(found, ["people", "units"], forms)


def _of_first(
    found: Mapping[str, Any], settings: Sequence[str], columns: Sequence[str]
) -> str:
    """Returns the speed of what is first, and how many times as fast the others are."""
    rows = []
    for row in found["rows"]:
        for kind in KINDS:
            first, *others = map(statistics.median, row[kind].values())
            cells = [*(str(row[setting]) for setting in settings), kind, f"{first:.0f}"]
            rows.append([*cells, *(f"{other / first:.2f}" for other in others)])
    header = [*settings, "", *columns]
    return f"{origin.in_words(found)}\n\n{table(header, rows)}"


BLOCKS = {"speeds": speeds}
MESSAGE_BLOCKS = {"speeds": messages}
OPTIMIZATION_BLOCKS = {"speeds": optimizations}
