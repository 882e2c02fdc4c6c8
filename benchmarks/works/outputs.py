"""Works without labels: their loss is of what they compute."""

from __future__ import annotations

import dataclasses

from benchmarks.works.lattices import Lattices
from benchmarks.works.texts import Texts
from benchmarks.works.trees import Trees


@dataclasses.dataclass(frozen=True)
class Outputs:
    """What is computed, for any inputs of a kind. The equations are in its file.

    The loss of a batch is the sum of the squares of its outputs, as in
    `benchmarks.ed_batch.workload`, and a step of training computes its gradients. It
    updates nothing, so that all steps of all systems do the same.

    Attributes:
        name: Of its file.
        inputs: What a batch is made of.
        batch_sizes: To measure.
    """

    name: str
    inputs: type[Texts] | type[Trees] | type[Lattices]
    batch_sizes: tuple[int, ...] = (1, 8, 32, 64, 128, 256)
