"""All measurements of a run, each in processes of its own, and what the model needs."""

import dataclasses
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from tqdm import tqdm

from benchmarks.scaling import model, processes
from benchmarks.scaling.jobs import (
    Exchanging,
    Jobs,
    Reading,
    Results,
    Steps,
    Training,
)
from benchmarks.scaling.link import linked
from benchmarks.scaling.model import DENSE, ROW, SPARSE, Costs
from benchmarks.treelstm_model import Size

ROWS = (1, 300, 1200, 3500)
READ_TREES = (50, 200, 500, 2000)
FLOAT = 4
Key = tuple[str, int]  # An executor, and trees a worker.


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes:
        jobs: What is the same for all processes.
        batches: Trees a worker.
        executors: Names.
        link: The speed of a link, as `tc` has it, or None.
        is_quick: Whether there are few steps: figures then only show that all runs.
    """

    jobs: Jobs
    batches: Sequence[int]
    executors: Sequence[str]
    link: str | None
    is_quick: bool

    def training(self, executor: str, batch: int, workers: int) -> Training:
        """Returns enough steps to be timed, in executions of some."""
        if self.is_quick:
            return Training(executor, batch, 1, 1)
        if executor == "dataflow":
            return Training(executor, batch, 2, 2)
        return Training(executor, batch, 20, max(2, 200 * workers // batch))


@dataclasses.dataclass(frozen=True)
class Measured:
    """Training steps, by executor and by trees of a worker.

    Attributes:
        alone: One worker; of twice the trees, too.
        crowded: One of two that know nothing of each other, at the same time.
        pair: Two workers.
        linked: Two workers on hosts of their own.
        one_of_one: The only worker of a cluster.
        parts: Exchanges and readings of two workers.
        of_four: Tiny exchanges of four workers.
    """

    alone: dict[Key, Steps]
    crowded: dict[Key, Steps]
    pair: dict[Key, Steps]
    linked: dict[Key, Steps]
    one_of_one: dict[Key, Steps]
    parts: Results
    of_four: Results


def seconds(steps: Steps) -> float:
    """Returns the median over executions."""
    return statistics.median(steps.seconds)


def measure(plan: Plan) -> Measured:
    """Measures everything, with a progress bar of processes started."""
    both = sorted({size for batch in plan.batches for size in (batch, 2 * batch)})
    phases = 5 + bool(plan.link)
    with tqdm(total=phases, desc="scaling", unit="run") as bar:
        alone, _ = _train(plan, both, 1, _first_alone, bar)
        crowded, _ = _train(plan, plan.batches, 1, _second_of_two, bar)
        of_one, _ = _train(plan, plan.batches[:1], 1, _cluster(1), bar)
        pair, parts = _train(plan, plan.batches, 2, _cluster(2), bar, **_parts(plan))
        on_link = {}
        if plan.link:
            batched = dataclasses.replace(plan, executors=plan.executors[:1])
            with linked(plan.link) as hosts:
                run = _cluster(2, hosts=hosts)
                on_link, _ = _train(batched, plan.batches, 2, run, bar)
        tiny = [job for job in _parts(plan)["exchanges"] if job.rows == 1]
        of_four = processes.together(dataclasses.replace(plan.jobs, exchanges=tiny), 4)
        bar.update()
    return Measured(alone, crowded, pair, on_link, of_one, parts, of_four)


Run = Callable[[Jobs], Results]


def _first_alone(jobs: Jobs) -> Results:
    return processes.alone(jobs)[0]


def _second_of_two(jobs: Jobs) -> Results:
    return processes.alone(jobs, 2)[1]


def _cluster(workers: int, **choices: Any) -> Run:
    return lambda jobs: processes.together(jobs, workers, **choices)


def _train(
    plan: Plan,
    batches: Sequence[int],
    workers: int,
    run: Run,
    bar: Any,
    **others: Any,
) -> tuple[dict[Key, Steps], Results]:
    """Returns steps of each executor and number of trees a worker."""
    keys = [(executor, batch) for executor in plan.executors for batch in batches]
    jobs = [plan.training(name, batch * workers, workers) for name, batch in keys]
    found = run(dataclasses.replace(plan.jobs, training=jobs, **others))
    bar.update()
    return dict(zip(keys, found.training, strict=True)), found


def _parts(plan: Plan) -> dict[str, Any]:
    repeats = 2 if plan.is_quick else 20
    return {
        "exchanges": [
            Exchanging(kind, rows, repeats) for kind in (DENSE, SPARSE) for rows in ROWS
        ],
        "readings": [Reading(trees, repeats) for trees in READ_TREES],
    }


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
    alone = [steps for key, steps in measured.alone.items() if key[0] == executor]
    points = [
        point
        for steps in alone
        for point in zip(steps.nodes, steps.seconds, strict=True)
    ]
    [(key, of_one), *_] = measured.one_of_one.items()
    call = seconds(of_one) - seconds(measured.alone[key])
    return Costs(
        compute=model.fit(*zip(*points, strict=True)),
        input=model.fit(*zip(*measured.parts.readings, strict=True)),
        call=max(call, 0.0),
        prices=_prices(measured),
        dense=dense,
        row_bytes=(size.embedding + 1) * FLOAT,
    )


def _prices(measured: Measured) -> dict[str, model.Price]:
    found = measured.parts.exchanges
    prices = {}
    for number, kind in enumerate((DENSE, SPARSE)):
        of_kind = found[number * len(ROWS) : (number + 1) * len(ROWS)]
        two = model.fit([rows * ROW * FLOAT for rows in ROWS], of_kind)
        prices[kind] = model.price_of(kind, two, measured.of_four.exchanges[number])
    return prices
