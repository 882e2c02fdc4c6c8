"""MV-RNN (Socher et al. 2012) over sentences: a vector and a matrix for each word."""

from __future__ import annotations

from typing import Any

import recursive_tf as rtf
from benchmarks.ed_batch import trees
from benchmarks.ed_batch.workload import Workload
from benchmarks.works.mv_rnn import MOST_UNITS


def model(units: int, **choices: Any) -> rtf.layers.TreeEncoder:
    """Returns the model, of less units than the others."""
    units = min(units, MOST_UNITS)
    x_size = units + units * units
    return trees.encoder(rtf.layers.MVRNNCell(units), x_size, **choices)


WORKLOAD = Workload("MV-RNN", model, trees.batches)
