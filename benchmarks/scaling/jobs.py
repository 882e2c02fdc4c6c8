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
class Exchanging:
    """Exchanges of one size, one after the other.

    Attributes:
        kind: As of `benchmarks.scaling.model.Exchange`.
        rows: Of 300 floats: how many a worker has.
        repeats: Calls, each with some of them.
    """

    kind: str
    rows: int
    repeats: int


@dataclasses.dataclass(frozen=True)
class Sharing:
    """Batches that are shared and read, and not trained on.

    Attributes:
        batch: Trees of all workers together.
        steps: How many.
    """

    batch: int
    steps: int


@dataclasses.dataclass(frozen=True)
class Updating:
    """Updates of some rows of the embedding.

    Attributes:
        rows: How many slices there are.
        distinct: Of how many rows they are.
        repeats: How often.
    """

    rows: int
    distinct: int
    repeats: int


@dataclasses.dataclass(frozen=True)
class Jobs:
    """All that a process does.

    Attributes:
        data: Folder of a treebank; None for trees that are generated.
        limit: The number of trees.
        size: Of the model: words, lengths of their vectors and of h.
        training: In this order.
        exchanges: After training.
        sharings: After these.
        updates: At last.
    """

    data: str | None
    limit: int
    size: tuple[int, int, int]
    training: Sequence[Training] = ()
    exchanges: Sequence[Exchanging] = ()
    sharings: Sequence[Sharing] = ()
    updates: Sequence[Updating] = ()


@dataclasses.dataclass(frozen=True)
class Steps:
    """What training took.

    Attributes:
        seconds: A step, of each execution.
        nodes: A step, of all workers, of each execution.
        bytes_sent: A step, of one worker.
    """

    seconds: list[float]
    nodes: list[float]
    bytes_sent: float


@dataclasses.dataclass(frozen=True)
class Results:
    """What a process found, in the order of its jobs.

    Attributes:
        training: Of each `Training`.
        exchanges: Of each `Exchanging`, the seconds of one, and those of them that a
            worker computes.
        sharings: Of each `Sharing`, the seconds that a worker's share of a batch takes
            longer than a batch of as many trees.
        updates: Seconds of one, of each `Updating`.
    """

    training: list[Steps]
    exchanges: list[tuple[float, float]]
    sharings: list[float]
    updates: list[float]


def write(path: pathlib.Path, what: Jobs | Results) -> None:
    """Writes a file."""
    path.write_text(json.dumps(dataclasses.asdict(what)), encoding="utf-8")


def read_jobs(path: pathlib.Path) -> Jobs:
    """Returns what `write` wrote."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return Jobs(
        **found
        | {
            "training": [Training(**job) for job in found["training"]],
            "exchanges": [Exchanging(**job) for job in found["exchanges"]],
            "sharings": [Sharing(**job) for job in found["sharings"]],
            "updates": [Updating(**job) for job in found["updates"]],
        }
    )


def read_results(path: pathlib.Path) -> Results:
    """Returns what `write` wrote."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return Results(
        **found
        | {
            "training": [Steps(**steps) for steps in found["training"]],
            "exchanges": [tuple(pair) for pair in found["exchanges"]],
        }
    )
