"""LatticeLSTM (Zhang and Yang 2018) over characters and words."""

from __future__ import annotations

from typing import Any

import recursive_tf as rtf
from benchmarks.ed_batch import lattices
from benchmarks.ed_batch.workload import Workload


def model(units: int, **choices: Any) -> lattices.LatticeModel:
    """Returns the model."""
    cell = rtf.layers.LatticeLSTMCell(units)
    return lattices.LatticeModel(cell, units, **choices)


WORKLOAD = Workload("LatticeLSTM", model, lattices.batches)
