"""What docs/models.md says of accuracy, from the JSON of a run."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks import origin
from benchmarks.accuracy.choosing import DECIDES, DEV, HELD_OUT, TEST
from benchmarks.yardstick.tables import table

Run = Mapping[str, Any]

MODELS = {"tree_lstm": "TreeLSTM", "tree_rnn": "TreeRNN", "rntn": "RNTN"}
TRAINED_ON = {"all": "five", "binary": "two"}
# Of the test split, by model and whether vectors were pretrained: Socher et al. 2013,
# Table 1, and Tai et al. 2015, Table 2, whose binary figures are of two labels.
PUBLISHED = {
    "root_fine": {
        ("tree_lstm", False): "43.9",
        ("tree_lstm", True): "51.0",
        ("tree_rnn", False): "43.2",
        ("rntn", False): "45.7",
    },
    "root_binary": {
        ("tree_lstm", False): "82.0",
        ("tree_lstm", True): "88.0",
        ("tree_rnn", False): "82.4",
        ("rntn", False): "85.4",
    },
}


class Column(NamedTuple):
    """The accuracy on a split, of the epoch that is best on one."""

    split: str
    chosen_by: str
    title: str


COLUMNS = (
    Column(DEV, HELD_OUT, "**dev, epoch by held-out**"),
    Column(DEV, DEV, "dev, epoch by dev"),
    Column(HELD_OUT, DEV, "held-out, epoch by dev"),
    Column(TEST, DEV, "**test, epoch by dev**"),
)


def fine(found: Mapping[str, Any]) -> str:
    """Returns where the figures are from, and the table of five labels."""
    return f"{origin.in_words(found)}\n\n{table_of(found['runs'], 'root_fine')}"


def summary(found: Mapping[str, Any]) -> str:
    """Returns what README says: of five labels and random vectors."""
    rows = _by_row(found["runs"], "root_fine")
    cells = [
        (f"{MODELS[key[0]]}, {name}", _values(row, COLUMNS[0], metric), metric, key)
        for key, row in rows.items()
        if not key[1]
        for name, metric in (("fine", "root_fine"), ("binary", "root_binary"))
    ]
    header = ["roots right, %", *(title for title, *_ in cells)]
    ours = ["here, dev split", *(cell(values) for _, values, *_ in cells)]
    published = [PUBLISHED[metric][key[:2]] for *_, metric, key in cells]
    return table(header, [ours, ["published, test split", *published]])


def binary(found: Mapping[str, Any]) -> str:
    """Returns the table of two labels."""
    return table_of(found["runs"], "root_binary")


def table_of(runs: Iterable[Run], metric: str) -> str:
    """Returns means and standard deviations of the seeds, as a Markdown table.

    Args:
        runs: What each found.
        metric: "root_fine" or "root_binary".
    """
    rows = _by_row(runs, metric)
    columns = [
        column
        for column in COLUMNS
        if any(_values(row, column, metric) for row in rows.values())
    ]
    lines = [
        [
            _title(*key[:2]),
            TRAINED_ON[key[2]],
            str(len(row)),
            *(cell(_values(row, column, metric)) for column in columns),
            PUBLISHED[metric].get(key[:2], ""),
        ]
        for key, row in rows.items()
    ]
    titles = [column.title for column in columns]
    header = ["model", "trained on labels", "seeds", *titles, "published, test"]
    return table(header, lines)


def cell(values: Sequence[float]) -> str:
    """Returns mean and standard deviation, in percent.

    >>> cell([0.45, 0.46]), cell([0.45]), cell([])
    ('45.5 ± 0.7', '45.0', '')
    """
    if not values:
        return ""
    mean = f"{100 * statistics.mean(values):.1f}"
    if len(values) == 1:
        return mean
    return f"{mean} ± {100 * statistics.stdev(values):.1f}"


def _by_row(runs: Iterable[Run], metric: str) -> dict[tuple[str, bool, str], list[Run]]:
    """Returns the runs of each line: models in order, five labels before two."""
    rows: dict[tuple[str, bool, str], list[Run]] = {}
    for run in runs:
        asked = run["asked"]
        if metric == "root_fine" and asked["labels"] == "binary":
            continue
        key = (asked["model"], "vectors" in asked, asked["labels"])
        rows.setdefault(key, []).append(run)
    models, labels = list(MODELS), list(DECIDES)
    ranks = {key: (models.index(key[0]), key[1], labels.index(key[2])) for key in rows}
    return {key: rows[key] for key in sorted(rows, key=ranks.__getitem__)}


def _values(runs: Iterable[Run], column: Column, metric: str) -> list[float]:
    """Returns the figure of each seed that has one."""
    by = [run["by"].get(column.chosen_by, {}) for run in runs]
    return [epoch[column.split][metric] for epoch in by if column.split in epoch]


def _title(model: str, has_vectors: bool) -> str:
    return MODELS[model] + (", pretrained vectors" if has_vectors else "")


BLOCKS = {"fine": fine, "binary": binary, "summary": summary}
