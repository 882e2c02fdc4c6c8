"""`rtf.Schedule`: which threads run operations, and in which order."""

import dataclasses
import numbers
from collections.abc import Mapping
from typing import Any, Literal

ORDERS = ("critical_path", "first_come")
# More than any machine has cores; cc/tf/team_schedule.cc says the same.
MOST_THREADS = 1024


@dataclasses.dataclass(frozen=True)
class Schedule:
    """Runs independent operations at the same time, each on a team of threads.

    TensorFlow gives all operations that are ready to one pool of threads, and splits
    each large one among all cores. Here, there are several teams with cores of their
    own, and each operation runs on one team. That pays where a graph has many
    operations at once that are too small for all cores.

    `rtf.Schedule()` is TensorFlow's own schedule. `rtf.profile` finds out which one is
    fastest for a function, and gives it as `profile.schedule`.

    Source: Graphi (Tang et al. 2018), section 4.

    Attributes:
        executors: How many teams there are, and so how many operations run at once.
            With "auto", which `threads` must then be too, TensorFlow decides.
        threads: How many threads of a team compute at once.
        order: Which ready operation a team takes next. "critical_path" takes the one
            with the longest way to the end of the graph, by times that the first runs
            measure. "first_come" takes the one that has been ready for the longest
            time.
        pinned: Whether each team stays on cores of its own, if there are as many cores
            as threads. Use False where other programs use the cores.
    """

    executors: int | Literal["auto"] = "auto"
    threads: int | Literal["auto"] = "auto"
    order: Literal["critical_path", "first_come"] = "critical_path"
    pinned: bool = True

    def __post_init__(self) -> None:
        given = (self.executors, self.threads)
        if given != ("auto", "auto") and not all(map(_is_number, given)):
            raise ValueError(
                f"executors={self.executors!r} with threads={self.threads!r}: give two "
                "whole numbers, or neither. rtf.profile measures which are fastest."
            )
        executors, threads = self.size
        if min(executors, threads) < 1 or executors * threads > MOST_THREADS:
            raise ValueError(
                f"executors={self.executors} with threads={self.threads}: both are at "
                f"least 1, and together there are at most {MOST_THREADS} threads."
            )
        if self.order not in ORDERS:
            raise ValueError(f"order={self.order!r}: choose one of {ORDERS}.")

    @property
    def is_tensorflows(self) -> bool:
        """Whether TensorFlow's own threads run all operations."""
        return "auto" in (self.executors, self.threads)

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of executors, and of threads of each; 1 and 1 for "auto"."""
        if isinstance(self.executors, str) or isinstance(self.threads, str):
            return 1, 1
        return self.executors, self.threads

    def attribute(self) -> str:
        """Returns the schedule as ops take it; empty for TensorFlow's own.

        >>> Schedule(2, 1).attribute()
        '2x1 critical_path pinned'
        """
        if self.is_tensorflows:
            return ""
        place = "pinned" if self.pinned else "moving"
        return f"{self.executors}x{self.threads} {self.order} {place}"

    def __str__(self) -> str:
        """Returns it in words.

        >>> str(Schedule(2, 1)), str(Schedule())
        ('2 executors of 1 thread, critical_path', "TensorFlow's own")
        """
        if self.is_tensorflows:
            return "TensorFlow's own"
        executors = _counted(self.executors, "executor")
        moving = "" if self.pinned else ", not pinned"
        return (
            f"{executors} of {_counted(self.threads, 'thread')}, {self.order}{moving}"
        )

    def config(self) -> dict[str, Any]:
        """Returns the schedule as values that JSON has."""
        return dataclasses.asdict(self)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "Schedule":
        """Returns what `config` returned these values of."""
        return cls(**config)


TENSORFLOWS = Schedule()


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _counted(count: Any, what: str) -> str:
    return f"{count} {what}" + ("s" if count != 1 else "")
