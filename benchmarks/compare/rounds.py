"""Rounds: all pieces, of all three processes, in a new order each time.

Three processes run the workload: A1 and A2 of the first revision, B of the second one.
A round takes each piece in all three, within seconds of each other: what needs a fresh
process once, and the rest twice. After some rounds, a sitting, they are started anew,
because where a process has its memory, and which threads woke first, makes it faster or
slower than its twin for as long as it lives.
"""

import contextlib
import json
import os
import pathlib
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from tqdm import tqdm

from benchmarks.compare import builds
from benchmarks.compare.pieces import (
    Piece,
    Sizes,
    all_pieces,
    first_piece,
    memory_piece,
    steady_pieces,
)
from benchmarks.resident import peak_resident_bytes, resident_bytes
from benchmarks.workers import Worker

ROLES = ("A1", "A2", "B")
ROUNDS_A_SITTING = 3
# A fresh process takes as long as all pieces of one that runs.
STEADY_A_ROUND = 2
MIB = 1024**2
WORKLOAD = pathlib.Path(__file__).with_name("workload.py")
# The figures of each round: by the name of the piece, then by role.
Runs = dict[str, dict[str, list[float]]]
Start = Callable[[str], Worker]


class Measured(NamedTuple):
    """What a comparison found.

    Attributes:
        runs: The figures of all rounds.
        hello: What the processes of the revisions said of themselves, by role.
        rounds: How many.
    """

    runs: Runs
    hello: dict[str, dict[str, Any]]
    rounds: int


class Clock:
    """The time that there is for measuring, shown by a bar; rounds that fit in it."""

    def __init__(self, seconds: float, bar: tqdm) -> None:
        self._seconds = seconds
        self._start = self._last = time.monotonic()
        self._longest = 0.0
        self._bar = bar

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    def show(self, what: str) -> None:
        """Moves the bar."""
        self._bar.set_description(what, refresh=False)
        self._bar.update(min(self.elapsed, self._seconds) - self._bar.n)

    def fits_another(self) -> bool:
        """Returns whether a round as long as the longest ends in time; called after."""
        now = time.monotonic()
        self._longest = max(self._longest, now - self._last)
        self._last = now
        return self.elapsed + self._longest <= self._seconds


def starter(
    folders: Mapping[str, pathlib.Path], sizes: Sizes, trees: pathlib.Path
) -> Start:
    """Returns what starts the workload of a role.

    Args:
        folders: Where each role has its package.
        sizes: Of the workload.
        trees: The file of its trees.
    """
    settings = {
        "trees": str(trees),
        "hidden": sizes.hidden,
        "embedding": sizes.embedding,
        "fib": sizes.fib,
        "seconds": sizes.seconds,
    }
    command = [sys.executable, str(WORKLOAD), json.dumps(settings)]

    def start(role: str) -> Worker:
        folder = folders[role]
        # The order of sets, and so of ops, is the same in all of them.
        ours = {"PYTHONPATH": str(folder), "PYTHONHASHSEED": "0"}
        worker = Worker(role, command, {**os.environ, **ours})
        package = pathlib.Path(worker.hello["package"])
        if folder not in package.parents:
            worker.close()
            raise builds.BuildError(
                f"{role} imported {package}, and its package is in {folder}."
            )
        return worker

    return start


def measure(start: Start, sizes: Sizes, seconds: float, rng: random.Random) -> Measured:
    """Takes rounds until there is no time for another one, at least one.

    Args:
        start: Starts the process of a role.
        sizes: What to measure.
        seconds: How long it may take.
        rng: Shuffles.
    """
    runs: Runs = {
        piece.name: {role: [] for role in ROLES} for piece in all_pieces(sizes)
    }
    total = max(1, round(seconds))
    bar_format = "{desc}{percentage:3.0f}%|{bar}| {elapsed}"
    rounds, goes_on = 0, True
    with tqdm(total=total, bar_format=bar_format, leave=False) as bar:
        clock = Clock(seconds, bar)
        while goes_on:
            with _sitting(start, sizes, clock) as workers:
                hello = {role: worker.hello for role, worker in workers.items()}
                for _ in range(ROUNDS_A_SITTING):
                    _round(workers, start, sizes, rng, _Record(runs, clock))
                    rounds += 1
                    goes_on = clock.fits_another()
                    if not goes_on:
                        break
    return Measured(runs, hello, rounds)


class _Record(NamedTuple):
    """Where a figure goes."""

    runs: Runs
    clock: Clock

    def put(self, piece: Piece, role: str, figure: float) -> None:
        self.runs[piece.name][role].append(figure)
        self.clock.show(piece.name)


@contextlib.contextmanager
def _sitting(start: Start, sizes: Sizes, clock: Clock) -> Iterator[dict[str, Worker]]:
    """Fresh processes in which everything is traced."""
    with contextlib.ExitStack() as stack:
        workers = {}
        for role in ROLES:
            clock.show(f"starting {role}")
            workers[role] = stack.enter_context(start(role))
            workers[role].ask(do="warm", batches=sizes.batches)
        yield workers


def _round(
    workers: Mapping[str, Worker],
    start: Start,
    sizes: Sizes,
    rng: random.Random,
    record: _Record,
) -> None:
    """Takes every figure of each role."""
    steady = STEADY_A_ROUND * steady_pieces(sizes)
    for piece in _shuffled([*steady, None], rng):
        for role in _shuffled(ROLES, rng):
            if piece is None:
                _fresh(start, role, sizes, record)
            else:
                record.put(piece, role, _figure(workers[role], piece))


def _fresh(start: Start, role: str, sizes: Sizes, record: _Record) -> None:
    """Takes the figures for which a process has to be new."""
    first, memory = first_piece(), memory_piece(sizes)
    with start(role) as worker:
        before = resident_bytes(worker.pid)
        record.put(first, role, _figure(worker, first))
        worker.ask(**memory.order)
        grown = peak_resident_bytes(worker.pid) - before
        record.put(memory, role, grown / MIB)


def _figure(worker: Worker, piece: Piece) -> float:
    figure: float = worker.ask(**piece.order)["figure"]
    return figure


def _shuffled(things: Any, rng: random.Random) -> list[Any]:
    return rng.sample(list(things), len(things))
