"""A GRU in the form of the LatticeLSTM, over characters and words."""

from __future__ import annotations

from typing import Any

import recursive_tf as rtf
from benchmarks.ed_batch import lattices
from benchmarks.ed_batch.workload import Workload


def model(units: int, **choices: Any) -> lattices.LatticeModel:
    """Returns the model."""
    cell = rtf.layers.LatticeGRUCell(units)
    return lattices.LatticeModel(cell, units, **choices)


WORKLOAD = Workload("LatticeGRU", model, lattices.batches)
