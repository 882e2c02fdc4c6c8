"""All measurements of a run, each in processes of its own, and what the model needs."""

import dataclasses
import functools
import itertools
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from tqdm import tqdm

from benchmarks.scaling import model, processes
from benchmarks.scaling.jobs import (
    Exchanging,
    Jobs,
    Results,
    Sharing,
    Steps,
    Training,
    Updating,
)
from benchmarks.scaling.link import linked
from benchmarks.scaling.model import DENSE, ROW, SPARSE, Costs, Exchanged
from benchmarks.treelstm_model import Size

ROWS = (1, 300, 1200, 3500)
SHARED_TREES = (50, 200, 500, 2000)
# Slices, and of how many rows.
UPDATED = ((300, 300), (1200, 800), (5000, 5000), (5000, 2500), (15000, 7000))
FLOAT, INDEX = 4, 8  # Bytes.
Key = tuple[str, int]  # An executor, and trees a worker.


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes:
        jobs: What is the same for all processes.
        batches: Trees a worker.
        executors: Names.
        link: The speed of a link, as `tc` has it, or None.
        rounds: How often all steps are measured, in turn: the machine's speed drifts.
        is_quick: Whether there are few steps: figures then only show that all runs.
    """

    jobs: Jobs
    batches: Sequence[int]
    executors: Sequence[str]
    link: str | None
    rounds: int
    is_quick: bool

    def training(self, executor: str, batch: int, workers: int) -> Training:
        """Returns enough steps to be timed, in executions of some."""
        if self.is_quick:
            return Training(executor, batch, 1, 1)
        if executor == "dataflow":
            return Training(executor, batch, 2, 2)
        return Training(executor, batch, 10, max(3, 300 * workers // batch))


@dataclasses.dataclass(frozen=True)
class Trained:
    """Training steps, by executor and by trees of a worker.

    Attributes:
        alone: One worker; of twice the trees, too.
        crowded: One of two that know nothing of each other, at the same time.
        pair: Two workers.
        linked: Two workers on hosts of their own.
        one_of_one: The only worker of a cluster.
    """

    alone: dict[Key, Steps]
    crowded: dict[Key, Steps]
    pair: dict[Key, Steps]
    linked: dict[Key, Steps]
    one_of_one: dict[Key, Steps]


@dataclasses.dataclass(frozen=True)
class Parts:
    """What steps are made of.

    Attributes:
        exchanges: Of each kind, among two workers: of each of `ROWS`.
        of_four: Of each kind, the first of them, which is tiny, among four.
        sharings: Seconds of `SHARED_TREES`, by two workers.
        updates: Seconds of `UPDATED`, of one worker.
    """

    exchanges: dict[str, Sequence[Exchanged]]
    of_four: dict[str, Exchanged]
    sharings: Sequence[float]
    updates: Sequence[float]


@dataclasses.dataclass(frozen=True)
class Measured:
    """All that was measured."""

    steps: Trained
    parts: Parts


def seconds(steps: Steps) -> float:
    """Returns the median over executions."""
    return statistics.median(steps.seconds)


def measure(plan: Plan) -> Measured:
    """Measures everything, with a progress bar of clusters started."""
    per_round = len(dataclasses.fields(Trained)) - (plan.link is None)
    with tqdm(total=plan.rounds * per_round + 3, desc="scaling", unit="run") as bar:
        rounds = [_round(plan, bar) for _ in range(plan.rounds)]
        return Measured(_merged(rounds), _parts(plan, bar))


Run = Callable[[Jobs], Results]


def _round(plan: Plan, bar: Any) -> Trained:
    """Measures all steps once."""

    def train(
        run: Run, workers: int, batches: Sequence[int], executors: Sequence[str]
    ) -> dict[Key, Steps]:
        keys = [(executor, batch) for executor in executors for batch in batches]
        jobs = [plan.training(name, batch * workers, workers) for name, batch in keys]
        found = run(dataclasses.replace(plan.jobs, training=jobs))
        bar.update()
        return dict(zip(keys, found.training, strict=True))

    both = sorted({size for batch in plan.batches for size in (batch, 2 * batch)})
    names, first = plan.executors, plan.executors[:1]
    on_link: dict[Key, Steps] = {}
    if plan.link:
        with linked(plan.link) as hosts:
            on_link = train(_cluster(2, hosts=hosts), 2, plan.batches, first)
    return Trained(
        alone=train(_first_alone, 1, both, names),
        crowded=train(_second_of_two, 1, plan.batches, names),
        pair=train(_cluster(2), 2, plan.batches, names),
        linked=on_link,
        one_of_one=train(_cluster(1), 1, plan.batches[:1], first),
    )


def _first_alone(jobs: Jobs) -> Results:
    return processes.alone(jobs)[0]


def _second_of_two(jobs: Jobs) -> Results:
    return processes.alone(jobs, 2)[1]


def _cluster(workers: int, **choices: Any) -> Run:
    return lambda jobs: processes.together(jobs, workers, **choices)


def _merged(rounds: Sequence[Trained]) -> Trained:
    """Returns the steps of all rounds together."""

    def of_all(name: str) -> dict[Key, Steps]:
        first, *others = (getattr(found, name) for found in rounds)
        return {
            key: functools.reduce(_joined, (found[key] for found in others), steps)
            for key, steps in first.items()
        }

    names = [field.name for field in dataclasses.fields(Trained)]
    return Trained(**{name: of_all(name) for name in names})


def _joined(one: Steps, other: Steps) -> Steps:
    return Steps(
        one.seconds + other.seconds,
        one.nodes + other.nodes,
        (one.bytes_sent + other.bytes_sent) / 2,
    )


def _parts(plan: Plan, bar: Any) -> Parts:
    """Measures what steps are made of."""
    repeats = 2 if plan.is_quick else 20

    def run(start: Run, **jobs: Any) -> Results:
        found = start(dataclasses.replace(plan.jobs, **jobs))
        bar.update()
        return found

    updates = [Updating(rows, distinct, repeats) for rows, distinct in UPDATED]
    sharings = [Sharing(trees, repeats) for trees in SHARED_TREES]
    kinds = (DENSE, SPARSE)
    exchanges = [Exchanging(kind, rows, repeats) for kind in kinds for rows in ROWS]
    alone = run(_first_alone, updates=updates)
    pair = run(_cluster(2), exchanges=exchanges, sharings=sharings)
    four = run(_cluster(4), exchanges=exchanges[:: len(ROWS)])
    found = list(itertools.starmap(Exchanged, pair.exchanges))
    of_four = itertools.starmap(Exchanged, four.exchanges)
    return Parts(
        {DENSE: found[: len(ROWS)], SPARSE: found[len(ROWS) :]},
        dict(zip(kinds, of_four, strict=True)),
        pair.sharings,
        alone.updates,
    )


def costs_of(
    measured: Measured, executor: str, size: Size, dense: Sequence[int]
) -> Costs:
    """Returns what the model needs, for an executor.

    Args:
        measured: Also other executors.
        executor: Its name.
        size: Of the TreeLSTM.
        dense: Bytes of each of its gradients that are whole.
    """
    trained, parts = measured.steps, measured.parts
    alone = [steps for key, steps in trained.alone.items() if key[0] == executor]
    points = [
        point
        for steps in alone
        for point in zip(steps.nodes, steps.seconds, strict=True)
    ]
    [(key, of_one), *_] = trained.one_of_one.items()
    call = seconds(of_one) - seconds(trained.alone[key])
    sizes = [rows * ROW * FLOAT for rows in ROWS]
    return Costs(
        compute=model.fit(*zip(*points, strict=True)),
        call=max(call, 0.0),
        sharing=model.rate(SHARED_TREES, parts.sharings),
        update=model.fit_update(UPDATED, parts.updates),
        prices={
            kind: model.price_of(
                kind,
                model.fit(sizes, [one.seconds for one in found]).slope,
                found[0],
                parts.of_four[kind],
            )
            for kind, found in parts.exchanges.items()
        },
        dense=dense,
        row_bytes=size.embedding * FLOAT + INDEX,
    )
