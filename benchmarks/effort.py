"""How much of a benchmark to run."""

import dataclasses
from typing import TypeVar

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Effort:
    """What holds for every row.

    Attributes:
        repeats: Runs of each figure.
        quick: Whether sizes are small: the figures then only show that rows run.
    """

    repeats: int
    quick: bool = False

    def pick(self, full: T, quick: T) -> T:
        """Returns one of two sizes."""
        return quick if self.quick else full
