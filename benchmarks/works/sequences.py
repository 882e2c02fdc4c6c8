"""What works along sequences have in common, and the LSTM that all of them have.

With s the logistic function, x the vector of a step, and h and c of the step before:

    i, f, u, o = split(x kernel + h recurrent + bias, 4)
    c = s(f) c + s(i) tanh(u)
    h = s(o) tanh(c)

The loss of a batch is the sum of the squares of its outputs, as in
`benchmarks.ed_batch.workload`, and a step of training computes its gradients. It
updates nothing, so that all steps of all systems do the same.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from benchmarks.works.texts import Texts

Shapes = dict[str, tuple[int, ...]]


@dataclasses.dataclass(frozen=True)
class Sequences:
    """What is computed, for any texts. The equations are in its file.

    Attributes:
        inputs: What a batch is made of.
        name: Of its file.
        batch_sizes: To measure.
    """

    inputs: ClassVar[type] = Texts

    name: str
    batch_sizes: tuple[int, ...] = (1, 8, 32, 64, 128, 256)


def lstm(name: str, of: int, units: int) -> Shapes:
    """Returns the shapes of an LSTM's weights.

    Args:
        name: Before the names of the weights.
        of: The length of a step's vector.
        units: The length of h.
    """
    return {
        f"{name}_kernel": (of, 4 * units),
        f"{name}_recurrent": (units, 4 * units),
        f"{name}_bias": (4 * units,),
    }


def both_lstms(of: int, units: int, name: str = "") -> Shapes:
    """Returns those of an LSTM in each direction."""
    return lstm(f"{name}forward", of, units) | lstm(f"{name}backward", of, units)
