"""TreeLSTM (Tai et al. 2015) over sentences."""

from __future__ import annotations

from typing import Any

import recursive_tf as rtf
from benchmarks.ed_batch import trees
from benchmarks.ed_batch.workload import Workload


def model(units: int, **choices: Any) -> rtf.layers.TreeEncoder:
    """Returns the model."""
    return trees.encoder(rtf.layers.TreeLSTMCell(units), units, **choices)


WORKLOAD = Workload("TreeLSTM", model, trees.batches)
