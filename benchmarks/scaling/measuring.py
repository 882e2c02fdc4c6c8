"""All measurements of a run, each in processes of its own."""

import dataclasses
import functools
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from tqdm import tqdm

from benchmarks.scaling import processes
from benchmarks.scaling.jobs import Jobs, Steps, Training
from benchmarks.scaling.link import linked

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
class Measured:
    """Training steps, by executor and by trees of a worker.

    Attributes:
        alone: One worker; of twice the trees, too.
        apart: One of two that know nothing of each other, at the same time.
        pair: Two workers.
        linked: Two workers on hosts of their own.
    """

    alone: dict[Key, Steps]
    apart: dict[Key, Steps]
    pair: dict[Key, Steps]
    linked: dict[Key, Steps]


def seconds(steps: Steps) -> float:
    """Returns the median over executions."""
    return statistics.median(steps.seconds)


def measure(plan: Plan) -> Measured:
    """Measures everything, with a progress bar of clusters started."""
    per_round = len(dataclasses.fields(Measured)) - (plan.link is None)
    with tqdm(total=plan.rounds * per_round, desc="scaling", unit="run") as bar:
        return _merged([_round(plan, bar) for _ in range(plan.rounds)])


Run = Callable[[Jobs], list[Steps]]


def _round(plan: Plan, bar: Any) -> Measured:
    """Measures all steps once."""

    def train(
        run: Run, workers: int, batches: Sequence[int], executors: Sequence[str]
    ) -> dict[Key, Steps]:
        keys = [(executor, batch) for executor in executors for batch in batches]
        jobs = [plan.training(name, batch * workers, workers) for name, batch in keys]
        found = run(dataclasses.replace(plan.jobs, training=jobs))
        bar.update()
        return dict(zip(keys, found, strict=True))

    both = sorted({size for batch in plan.batches for size in (batch, 2 * batch)})
    names = plan.executors
    on_link: dict[Key, Steps] = {}
    if plan.link:
        with linked(plan.link) as hosts:
            on_link = train(_pair(hosts=hosts), 2, plan.batches, names[:1])
    return Measured(
        alone=train(_first_alone, 1, both, names),
        apart=train(_second_of_two, 1, plan.batches, names),
        pair=train(_pair(), 2, plan.batches, names),
        linked=on_link,
    )


def _first_alone(jobs: Jobs) -> list[Steps]:
    return processes.alone(jobs)[0]


def _second_of_two(jobs: Jobs) -> list[Steps]:
    return processes.alone(jobs, 2)[1]


def _pair(**choices: Any) -> Run:
    return lambda jobs: processes.together(jobs, 2, **choices)


def _merged(rounds: Sequence[Measured]) -> Measured:
    """Returns the steps of all rounds together."""

    def of_all(name: str) -> dict[Key, Steps]:
        first, *others = (getattr(found, name) for found in rounds)
        return {
            key: functools.reduce(_joined, (found[key] for found in others), steps)
            for key, steps in first.items()
        }

    names = [field.name for field in dataclasses.fields(Measured)]
    return Measured(**{name: of_all(name) for name in names})


def _joined(one: Steps, other: Steps) -> Steps:
    mean = (one.bytes_sent + other.bytes_sent) / 2
    return Steps(one.seconds + other.seconds, mean)


def as_json(measured: Measured) -> dict[str, list[dict[str, Any]]]:
    """Returns every run, for a file."""
    return {
        name: [
            {"executor": executor, "batch": batch, **dataclasses.asdict(steps)}
            for (executor, batch), steps in found.items()
        ]
        for name, found in vars(measured).items()
    }


def from_json(content: dict[str, list[dict[str, Any]]]) -> Measured:
    """Returns what `as_json` was given."""
    return Measured(
        **{
            name: {
                (each["executor"], each["batch"]): Steps(
                    each["seconds"], each["bytes_sent"]
                )
                for each in found
            }
            for name, found in content.items()
        }
    )
