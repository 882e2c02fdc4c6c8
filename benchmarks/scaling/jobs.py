"""What a process is to measure, and what it found: JSON between processes."""

import dataclasses
import json
import pathlib
from collections.abc import Sequence
from typing import Any


@dataclasses.dataclass(frozen=True)
class Training:
    """Training steps of Keras's `fit`.

    Attributes:
        executor: What runs the recursion.
        batch: Trees a step, of all workers together.
        steps: Of an execution; this many are timed at a time.
        executions: How often, after the first, in which functions are traced.
    """

    executor: str
    batch: int
    steps: int
    executions: int


@dataclasses.dataclass(frozen=True)
class Jobs:
    """All that a process does.

    Attributes:
        data: Folder of a treebank; None for trees that are generated.
        limit: The number of trees.
        size: Of the model: words, lengths of their vectors and of h.
        training: In this order.
    """

    data: str | None
    limit: int
    size: tuple[int, int, int]
    training: Sequence[Training] = ()


@dataclasses.dataclass(frozen=True)
class Steps:
    """What training took.

    Attributes:
        seconds: A step, of each execution.
        bytes_sent: A step, of one worker.
    """

    seconds: list[float]
    bytes_sent: float


def write_jobs(path: pathlib.Path, jobs: Jobs) -> None:
    """Writes a file."""
    path.write_text(json.dumps(dataclasses.asdict(jobs)), encoding="utf-8")


def read_jobs(path: pathlib.Path) -> Jobs:
    """Returns what `write_jobs` wrote."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return Jobs(**found | {"training": [Training(**job) for job in found["training"]]})


def write_steps(path: pathlib.Path, steps: Sequence[Steps]) -> None:
    """Writes what a process found, in the order of its jobs."""
    path.write_text(json.dumps(list(map(dataclasses.asdict, steps))), encoding="utf-8")


def read_steps(path: pathlib.Path) -> list[Steps]:
    """Returns what `write_steps` wrote."""
    return [Steps(**steps) for steps in json.loads(path.read_text(encoding="utf-8"))]
