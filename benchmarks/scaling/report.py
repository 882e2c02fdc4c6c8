"""Tables of what was measured, of what the model says, and of what would help."""

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.figures import Figure, at_least, number
from benchmarks.scaling import model
from benchmarks.scaling.jobs import Steps
from benchmarks.scaling.measuring import Key, Measured, seconds
from benchmarks.scaling.model import DENSE, GBIT_S, SPARSE, Costs, Exchange, Shares
from recursive_tf.data import Forest
from recursive_tf.distribute.shards import SHARING

MACHINES = range(1, 9)
MOST = MACHINES[-1]
LINKS = {"1 Gbit/s": GBIT_S, "10 Gbit/s": 10 * GBIT_S, "100 Gbit/s": 100 * GBIT_S}
GOAL_LINK = "10 Gbit/s"
LOOPBACK = float("inf")
MS = 1e3
MEASURED_GOAL = at_least(0.85)
PREDICTED_GOAL = at_least(0.9)

Row = Sequence[object]


class Trees:
    """What shards of the trees of a run have."""

    def __init__(self, forest: Forest) -> None:
        self._sizes = forest.sizes.numpy()
        tokens = np.split(forest.tokens.numpy(), np.cumsum(self._sizes)[:-1])
        self._words = [found[found >= 0] for found in tokens]
        self._found: dict[tuple[int, int, str], Shares] = {}

    def shares(self, workers: int, batch: int, by: str = "nodes") -> Shares:
        """Returns what the shards of some workers have, `batch` trees each."""
        key = (workers, batch, by)
        if key not in self._found:
            self._found[key] = model.draw_shares(
                self._sizes, self._words, SHARING[by], workers, batch
            )
        return self._found[key]


@dataclasses.dataclass(frozen=True)
class Report:
    """All that there is to say."""

    measured: Measured
    costs: dict[str, Costs]
    trees: Trees

    def of_two(self) -> Iterator[Row]:
        """Yields what two workers take, beside one and beside the prediction."""
        for key, pair in self.measured.steps.pair.items():
            executor, batch = key
            one = seconds(self.measured.steps.alone[key])
            of_both = seconds(self.measured.steps.alone[executor, 2 * batch])
            crowded = seconds(self.measured.steps.crowded[key])
            two = seconds(pair)
            yield (
                *key,
                *(number(MS * t) for t in (one, crowded, two)),
                *self._compared(key, pair, LOOPBACK),
                f"{one / two:.2f}",
                f"{crowded / two:.2f}",
                f"{of_both / two:.2f}",
            )

    def _compared(self, key: Key, pair: Steps, link: float) -> tuple[str, str]:
        """Returns the prediction for two workers here, and its error."""
        two = self._step_here(key, link)
        return number(MS * two), f"{two / seconds(pair) - 1:+.0%}"

    def _step_here(self, key: Key, link: float) -> float:
        """Returns what the model says of two workers on this machine."""
        executor, batch = key
        crowding = seconds(self.measured.steps.crowded[key]) / seconds(
            self.measured.steps.alone[key]
        )
        shares = self.trees.shares(2, batch)
        return model.step_seconds(self.costs[executor], shares, 2, link, crowding)

    def traffic(self) -> Iterator[Row]:
        """Yields the bytes of a step that a worker sends to another one."""
        for (executor, batch), pair in self.measured.steps.pair.items():
            costs = self.costs[executor]
            shares = self.trees.shares(2, batch)
            dense, sparse = (
                sum(
                    one.sent(2)
                    for one in model.exchanges_of(costs, shares.rows)
                    if (one.kind == DENSE) == is_dense
                )
                for is_dense in (True, False)
            )
            # The loopback has what both have sent.
            row = (dense, sparse, dense + sparse, pair.bytes_sent / 2)
            yield (executor, batch, *(f"{amount / 1e3:.0f}" for amount in row))

    def on_link(self, rate: float) -> Iterator[Row]:
        """Yields what two workers take on a link, beside the prediction."""
        for key, pair in self.measured.steps.linked.items():
            one, two = seconds(self.measured.steps.alone[key]), seconds(pair)
            predicted = self._compared(key, pair, rate)
            share = f"{one / two:.2f}"
            sent = f"{pair.bytes_sent / 1e3:.0f}"
            yield (*key, number(MS * two), *predicted, share, sent)

    def idle(self) -> Iterator[Row]:
        """Yields how long a worker waits in a step, the mean over workers."""
        for executor, batch in self.measured.steps.pair:
            for workers in (2, 4, 8):
                waits = []
                for by in ("trees", "nodes"):
                    shares = self.trees.shares(workers, batch, by)
                    idle = model.idle_seconds(self.costs[executor], shares)
                    share = idle / self.costs[executor].compute(shares.most)
                    waits.append(f"{MS * idle:.2f} ms, {share:.0%}")
                yield (executor, batch, workers, *waits)

    def rates(self, key: Key, link: float) -> list[float]:
        """Returns the trees/s of 1 to 8 machines."""
        executor, batch = key
        return [
            workers
            * batch
            / model.step_seconds(
                self.costs[executor], self.trees.shares(workers, batch), workers, link
            )
            for workers in MACHINES
        ]

    def efficiency(self, key: Key, link: float, workers: int = MOST) -> float:
        """Returns the trees/s of some machines as a share of the ideal."""
        rates = self.rates(key, link)
        return rates[workers - 1] / (workers * rates[0])

    def predicted(self) -> Iterator[Row]:
        """Yields trees/s by the number of machines."""
        for key in self.measured.steps.pair:
            for name, link in LINKS.items():
                rates = self.rates(key, link)
                yield (
                    *key,
                    name,
                    *(number(rate) for rate in rates),
                    f"{self.efficiency(key, link):.2f}",
                )

    def parts(self) -> Iterator[Row]:
        """Yields where the time of a step of 8 machines goes, in ms."""
        for executor, batch in self.measured.steps.pair:
            costs, shares = self.costs[executor], self.trees.shares(MOST, batch)
            exchanges = model.exchanges_of(costs, shares.rows)
            link = LINKS[GOAL_LINK]
            times = [
                costs.compute(shares.mean),
                model.idle_seconds(costs, shares),
                costs.call,
                costs.sharing(shares.trees),
                model.update_seconds(costs, shares),
                *(
                    model.exchange_seconds(costs, [one], MOST, link)
                    for one in exchanges
                ),
                -model.hidden_seconds(costs, shares, MOST, link),
            ]
            yield (executor, batch, *(number(MS * time) for time in times))

    def helped(self) -> Iterator[Row]:
        """Yields the efficiency of 8 machines if a step were another one."""
        for executor, batch in self.measured.steps.pair:
            costs = self.costs[executor]
            yield (
                executor,
                batch,
                *(f"{share:.2f}" for share in self._others(costs, batch)),
            )

    def _others(self, costs: Costs, batch: int) -> Iterator[float]:
        """Yields what the columns of `helped` are."""
        link = LINKS[GOAL_LINK]
        alone = costs.compute(self.trees.shares(1, batch).most)
        shares = self.trees.shares(MOST, batch)
        step = model.step_seconds(costs, shares, MOST, link)
        yield alone / step
        in_order = self.trees.shares(MOST, batch, "trees")
        yield alone / model.step_seconds(costs, in_order, MOST, link)

        def time(*exchanges: Exchange) -> float:
            return model.exchange_seconds(costs, exchanges, MOST, link)

        count, dense, _ = model.exchanges_of(costs, shares.rows)
        apart = [Exchange(DENSE, size) for size in costs.dense]
        yield alone / (step - time(dense) + time(*apart))
        # Each worker's number of rows, and their indices.
        tiny = Exchange(SPARSE, 4)
        yield alone / (step + time(tiny, tiny))
        waited = model.hidden_seconds(costs, shares, MOST, link)
        yield alone / (step - time(count) + waited)
        # At best: what is not known before the last gradient is waited for alone.
        hidden = min(time(dense), costs.compute(shares.mean) / 2)
        yield alone / (step - hidden)

    def goals(self) -> Iterator[Figure]:
        """Yields the two goals, of each number of trees."""
        for key, pair in self.measured.steps.pair.items():
            executor, batch = key
            one, two = self.measured.steps.alone[key], seconds(pair)
            what = f"{executor}, {batch} trees a worker"
            yield Figure(
                f"two workers, {what}",
                "efficiency",
                [seconds(one) / two],
                MEASURED_GOAL,
            )
            share = self.efficiency(key, LINKS[GOAL_LINK])
            yield Figure(
                f"{MOST} machines at {GOAL_LINK}, {what}",
                "efficiency",
                [share],
                PREDICTED_GOAL,
                note="by the model",
            )
