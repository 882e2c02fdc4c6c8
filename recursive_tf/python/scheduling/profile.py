"""`rtf.Profile`: what `rtf.profile` measured."""

import dataclasses
import os
import pathlib
import platform
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python.config_files import read_config, write_config
from recursive_tf.python.scheduling.schedule import Schedule

_VERSION = 3
# How many kinds of launches are printed.
_MOST_PRINTED = 8
# By so much another schedule is faster than TensorFlow's own before it is chosen.
_WORTH = 0.98


@dataclasses.dataclass(frozen=True)
class ProfiledGraph:
    """A graph that ran, and how long its operations took.

    Attributes:
        names: Of its operations.
        types: Of each operation, its op.
        waits: Pairs of operations, by number: the first comes before the second.
        runs: How often it runs in one call of the function.
        nanoseconds: By schedule, as `Schedule.attribute` has it, the median time of
            each operation; 0 of those that never run on a team, because they take no
            time.
        handing_over: By schedule, how much later an operation begins on an executor
            that was idle than on the one that made it ready, in ns; 0 if there is one.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    waits: tuple[tuple[int, int], ...]
    runs: float
    nanoseconds: Mapping[str, tuple[int, ...]]
    handing_over: Mapping[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class ProfiledLaunches:
    """Root calls of a SubGraph, or launches of a block, of one number of rows.

    Attributes:
        name: Of the SubGraph, or of the block as `rtf.explain` has it.
        part: "call" or "gradient of call"; of a block "forward", "backward" or
            "deferred".
        rows: Of each.
        runs: How many there are in one call of the function, at most.
        nanoseconds: By schedule, as `Schedule.attribute` has it, the median time of
            one; "" is TensorFlow's own.
    """

    name: str
    part: str
    rows: int
    runs: float
    nanoseconds: Mapping[str, int]

    def nanoseconds_in_all(self) -> float:
        """Returns the time in one call of the function, under the first schedule."""
        return self.runs * next(iter(self.nanoseconds.values()))


@dataclasses.dataclass(frozen=True)
class Profile:
    """How long a function takes under each schedule, and its operations under each.

    Print it for the table; `schedule` is the choice.

    Source: Graphi (Tang et al. 2018), sections 4.2 and 5.2.

    Attributes:
        machine: The processor, the number of its cores that could be used, and the
            version of TensorFlow. What was measured holds for these alone.
        seconds: By schedule, as `Schedule.attribute` has it, the seconds of each run;
            "" is TensorFlow's own.
        graphs: What ran.
        launches: Of recursive programs: root calls, and launches of blocks in the
            batched executor. What takes the longest comes first.
    """

    machine: Mapping[str, Any]
    seconds: Mapping[str, tuple[float, ...]]
    graphs: tuple[ProfiledGraph, ...]
    launches: tuple[ProfiledLaunches, ...] = ()

    @property
    def schedule(self) -> Schedule:
        """The fastest schedule; TensorFlow's own unless another is 2% faster."""
        medians = {s: statistics.median(runs) for s, runs in self.seconds.items()}
        best = min(medians, key=lambda s: medians[s])
        if medians[best] > _WORTH * medians[""]:
            return Schedule()
        return schedule_of(best)

    def config(self) -> dict[str, Any]:
        """Returns the profile as values that JSON has."""
        return {"version": _VERSION, **dataclasses.asdict(self)}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "Profile":
        """Returns what `config` returned these values of.

        Raises:
            ValueError: If it is not that, or of another version or machine.
        """
        if config.get("version") != _VERSION:
            raise ValueError(
                f"This is a profile of version {config.get('version')}, or none; this "
                f"version of recursive_tf reads version {_VERSION}."
            )
        here = this_machine()
        try:
            of_here = config["machine"] == here
            measured_on = in_words(config["machine"])
            found = cls(
                here,
                {s: tuple(runs) for s, runs in config["seconds"].items()},
                tuple(map(_graph_from, config["graphs"])),
                tuple(ProfiledLaunches(**each) for each in config["launches"]),
            )
            str(found)  # Reads all times of schedules.
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                "This profile is damaged: `save` does not write it like this "
                f"({error!r}). Measure again with rtf.profile."
            ) from error
        if not of_here:
            raise ValueError(
                "This profile was measured elsewhere, and says nothing of this "
                f"machine. It is of {measured_on}; this is {in_words(here)}. Measure "
                "again with rtf.profile."
            )
        return found

    def save(self, path: str | pathlib.Path) -> None:
        """Writes the profile to a file, as JSON."""
        write_config(path, self.config())

    @classmethod
    def load(cls, path: str | pathlib.Path) -> "Profile":
        """Returns the profile that `save` wrote.

        Raises:
            ValueError: If the file has none, or one of another version or machine.
        """
        return cls.from_config(read_config(path, "profile", key="seconds"))

    def __str__(self) -> str:
        """Returns the table of schedules, the choice, and the longest launches."""
        base = statistics.median(self.seconds[""])
        lines = [f"Measured on {in_words(self.machine)}:"]
        for attribute, runs in self.seconds.items():
            median = statistics.median(runs)
            name = str(schedule_of(attribute))
            lines.append(f"  {name:48} {1e3 * median:9.2f} ms  {median / base:5.2f}")
        lines.append(f"The choice is {self.schedule}.")
        return "\n".join([*lines, *self._lines_of_launches()])

    def _lines_of_launches(self) -> list[str]:
        if not self.launches:
            return []
        names = [attribute.partition(" ")[0] or "own" for attribute in self.seconds]
        head = f"{'Microseconds of calls and launches':50} {'rows':>6} {'runs':>6}"
        lines = [head + "".join(f" {name:>9}" for name in names)]
        for each in self.launches[:_MOST_PRINTED]:
            name = f"{each.part} {each.name}"
            times = [each.nanoseconds.get(attribute) for attribute in self.seconds]
            columns = [" " * 10 if t is None else f" {t / 1e3:9.1f}" for t in times]
            row = f"  {name:48} {each.rows:6} {each.runs:6.1f}"
            lines.append((row + "".join(columns)).rstrip())
        rest = len(self.launches) - _MOST_PRINTED
        return [*lines, f"  and {rest} more: see .launches"] if rest > 0 else lines


def schedule_of(attribute: str) -> Schedule:
    """Returns the schedule that `Schedule.attribute` returned.

    >>> schedule_of("2x1 first_come pinned")
    Schedule(executors=2, threads=1, order='first_come', pinned=True)
    """
    if not attribute:
        return Schedule()
    size, order, place = attribute.split()
    executors, threads = map(int, size.split("x"))
    return Schedule(executors, threads, order, place == "pinned")  # type: ignore[arg-type]


def this_machine() -> dict[str, Any]:
    """Returns what a profile holds for."""
    return {
        "processor": _processor(),
        "cores": usable_cores(),
        "tensorflow": tf.__version__,
    }


def usable_cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def in_words(machine: Mapping[str, Any]) -> str:
    """Returns a machine for people."""
    return (
        f"{machine['cores']} cores of a processor {machine['processor']}, with "
        f"TensorFlow {machine['tensorflow']}"
    )


def _processor() -> str:
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _graph_from(config: Mapping[str, Any]) -> ProfiledGraph:
    times: Mapping[str, Sequence[int]] = config["nanoseconds"]
    return ProfiledGraph(
        names=tuple(config["names"]),
        types=tuple(config["types"]),
        waits=tuple((first, second) for first, second in config["waits"]),
        runs=config["runs"],
        nanoseconds={schedule: tuple(each) for schedule, each in times.items()},
        handing_over=config["handing_over"],
    )
