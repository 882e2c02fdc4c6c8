"""TreeGRU (Zhou et al. 2016) over sentences."""

from __future__ import annotations

from typing import Any

import recursive_tf as rtf
from benchmarks.ed_batch import trees
from benchmarks.ed_batch.workload import Workload


def model(units: int, **choices: Any) -> rtf.layers.TreeEncoder:
    """Returns the model."""
    return trees.encoder(rtf.layers.TreeGRUCell(units), units, **choices)


WORKLOAD = Workload("TreeGRU", model, trees.batches)
