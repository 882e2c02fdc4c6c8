"""What docs/policies.md says of peers, from the JSON of a run."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from benchmarks import origin
from benchmarks.ed_batch.peers.systems import SYSTEMS
from benchmarks.yardstick import tables
from benchmarks.yardstick.systems import OURS

Found = Mapping[str, Any]

# Of which a median says something.
ROUNDS = 3
TITLES = {
    "bilstm_tagger": "BiLSTM tagger",
    "bilstm_char_tagger": "BiLSTM tagger, characters",
    "lstm_nmt": "LSTM NMT",
    "tree_gru": "TreeGRU",
    "mv_rnn": "MV-RNN",
    "tree_lstm_two_kinds": "TreeLSTM, 2 kinds",
    "lattice_lstm": "LatticeLSTM",
    "lattice_gru": "LatticeGRU",
}


def speeds(found: Found) -> str:
    """Returns sentences/s of all systems, a line for each batch size."""
    header = ["workload", "step", "batch"]
    header += [system.title for system in SYSTEMS.values()]
    lines = [
        [
            TITLES[row["work"]],
            row["mode"],
            str(row["batch"]),
            *(_cell(row, name) for name in SYSTEMS),
        ]
        for row in found["rows"]
    ]
    where = f"{origin.in_words(found)} {found['units']} units, sentences/s"
    parts = [where, *_caution(found), tables.table(header, lines)]
    return "\n\n".join(parts)


def _caution(found: Found) -> list[str]:
    """Says that a median of too few runs is none."""
    if found["rounds"] >= ROUNDS:
        return []
    return ["A trial of the command, in too few rounds to say who is faster."]


def _cell(row: Mapping[str, Any], name: str) -> str:
    """Returns the speed of a system, and how many times that ours has."""
    runs = row["trees_per_s"].get(name)
    if not runs:
        return ""
    ratio = "" if name == OURS else f" ({tables.ratio_to(row, name):.2f})"
    return f"{statistics.median(runs):.0f}{ratio}"


def not_timed(found: Found) -> str:
    """Returns what is not in the table, or that everything is."""
    if found["left_out"]:
        return tables.left_out(found)
    return "Every system agreed with ours before it was timed."


BLOCKS = {"speeds": speeds, "not_timed": not_timed}
