"""All systems measured in turn, work by work."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tqdm import tqdm

from benchmarks.peers.command import MODES
from benchmarks.workers import Worker, WorkerError
from benchmarks.works import making
from benchmarks.works.work import Recursion, Work
from benchmarks.yardstick.agreement import disagreement
from benchmarks.yardstick.bounds import needs_of
from benchmarks.yardstick.systems import OURS, PARTS, NotMadeError, System

# A first pass compiles programs; the slowest is a loop over nodes.
DEADLINE_S = 600.0

Answer = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes:
        works: Names of works.
        optimizers: Of training; each is a table.
        batch_sizes: Those of a work that are measured; None for all.
        rounds: Runs of each system.
        seconds: Of a run, or one pass if that is longer.
        data: A folder with train.txt, or None for trees that are generated.
    """

    works: Sequence[str]
    optimizers: Sequence[str]
    batch_sizes: Sequence[int] | None
    rounds: int
    seconds: float
    data: str | None = None


@dataclasses.dataclass
class Session:
    """What was measured.

    Attributes:
        rows: One for each work, optimizer, mode and batch size, with the trees/s of
            each run of each system.
        breakdowns: Where our steps spend their time, one for each work, mode and batch
            size: milliseconds, medians of the same rounds.
        systems: Versions and so on, by system.
        left_out: Why a system is in no row, or in none of a work.
    """

    rows: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    breakdowns: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    systems: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    left_out: dict[str, str] = dataclasses.field(default_factory=dict)

    def leave_out(self, what: str, why: str) -> None:
        """Says at once, and keeps, that a system is not timed."""
        self.left_out[what] = why
        tqdm.write(f"{what} is left out: {why}", sys.stderr)


def sizes_of(work: Work, plan: Plan) -> list[int]:
    """Returns the batch sizes of a work that are measured."""
    sizes = work.recursion.batch_sizes
    return [n for n in sizes if plan.batch_sizes is None or n in plan.batch_sizes]


def run(
    plan: Plan,
    systems: Sequence[System],
    parts: System | None = None,
    left_out: Mapping[str, str] | None = None,
    make: Callable[[str, str | None], Work] = making.make,
) -> Session:
    """Measures systems, which have to agree with ours before they are timed.

    All systems of a work wait in processes of their own while one is measured; the
    order is random in each round.

    Args:
        plan: What to measure.
        systems: Ours among them.
        parts: Says where our steps spend their time, with the plan's first optimizer;
            asked in the same rounds, as the machine's speed changes within minutes.
        left_out: Why others cannot be measured, for the session to say.
        make: Makes a work of its name and the plan's data.
    """
    session = Session(left_out=dict(left_out or {}))
    with tempfile.TemporaryDirectory() as folder:
        for name in plan.works:
            work = make(name, plan.data)
            path = pathlib.Path(folder) / f"{name}.npz"
            work.save(path)
            for optimizer in plan.optimizers:
                is_first = optimizer == plan.optimizers[0]
                compared = _compared(systems, is_first)
                told = [parts] if parts and is_first else []
                with (
                    _started(compared, path, optimizer, session) as served,
                    _started(told, path, optimizer, session) as asked,
                ):
                    session.systems |= {n: each.hello for n, each in served.items()}
                    kept = _that_agree(served, f"{name}, {optimizer}", session)
                    _measure(work, optimizer, plan, kept | asked, session)
    return session


def _compared(systems: Sequence[System], is_first: bool) -> list[System]:
    """Returns who is in a table: of a further optimizer only who has a chance."""
    return [s for s in systems if is_first or s.by_hand or s.name == OURS]


@contextlib.contextmanager
def _started(
    systems: Sequence[System], path: pathlib.Path, optimizer: str, session: Session
) -> Iterator[dict[str, Worker]]:
    with contextlib.ExitStack() as stack:
        served = {}
        for system in systems:
            try:
                worker = _start(system, path, optimizer)
            except (NotMadeError, WorkerError) as error:
                session.leave_out(system.name, str(error))
                continue
            served[system.name] = stack.enter_context(worker)
        yield served


def _start(system: System, path: pathlib.Path, optimizer: str) -> Worker:
    command = [*system.command(), "--model", str(path), "--optimizer", optimizer]
    environment = {**os.environ, **system.variables}
    return Worker(system.name, command, environment, DEADLINE_S)


def _that_agree(
    served: dict[str, Worker], where: str, session: Session
) -> dict[str, Worker]:
    """Returns the systems that compute what ours does."""
    kept: dict[str, Worker] = {}
    answers: dict[str, dict[str, Any]] = {}
    for name, process in tqdm(served.items(), desc=f"{where}: checks", leave=False):
        try:
            answers[name] = process.ask(check=True)
        except WorkerError as error:
            session.leave_out(f"{name} ({where})", str(error))
            continue
        why = disagreement(answers[name], answers[OURS])
        if why:
            session.leave_out(f"{name} ({where})", why)
            continue
        kept[name] = process
    return kept


def _measure(
    work: Work,
    optimizer: str,
    plan: Plan,
    served: dict[str, Worker],
    session: Session,
) -> None:
    sizes = sizes_of(work, plan)
    # Without training, an optimizer changes nothing.
    modes = MODES if optimizer == plan.optimizers[0] else MODES[:1]
    total = len(sizes) * len(modes) * plan.rounds * len(served)
    with tqdm(total=total, desc=f"{work.name}, {optimizer}") as bar:
        for mode in modes:
            for size in sizes:
                key = {"mode": mode, "batch": size}
                request = {**key, "seconds": plan.seconds}
                answers = _answers(request, plan.rounds, served, session, bar)
                row = {"work": work.name, **key}
                if PARTS in answers:
                    parts = _medians(answers.pop(PARTS))
                    session.breakdowns.append({**row, "ms": parts})
                rates = {
                    name: [a["steps"] * a["batch"] / a["seconds"] for a in given]
                    for name, given in answers.items()
                }
                row["optimizer"] = optimizer
                if isinstance(work.recursion, Recursion):
                    row |= needs_of(work, size, mode)._asdict()
                session.rows.append({**row, "trees_per_s": rates})


def _answers(
    request: Answer,
    rounds: int,
    served: dict[str, Worker],
    session: Session,
    bar: tqdm,
) -> dict[str, list[Answer]]:
    """Returns the answer of each round, by system, all asked in turn."""
    answers: dict[str, list[Answer]] = {name: [] for name in served}
    for _ in range(rounds):
        for name in random.sample(list(served), len(served)):
            bar.set_postfix_str(f"{request['mode']} {request['batch']} {name}")
            try:
                answers[name].append(served[name].ask(**request))
            except WorkerError as error:
                session.leave_out(f"{name} ({request})", str(error))
                del served[name]
                continue
            bar.update()
    return {name: given for name, given in answers.items() if given}


def _medians(answers: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {
        part: statistics.median(answer[part] for answer in answers)
        for part in answers[0]
    }
