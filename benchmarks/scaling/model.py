"""What a step takes on some machines, from what parts of it take here.

    step(N) = E[max over shards of compute(nodes)] + call + input(nodes of all)
              + the sum over exchanges of agree + messages * (message + latency)
                                             + bytes sent * max(a byte here, 1 / link)

A ring's all-reduce of S bytes is 2 (N - 1) messages after each other, and each worker
sends 2 (N - 1) / N * S bytes; an all-gather of S bytes of each worker is N - 1 messages
of S. Sparse gradients are three all-gathers: of lengths, of rows, and of indices.
(Patarasuk, Yuan. Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations.
J. Parallel Distrib. Comput. 2009.)
"""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

DENSE, SPARSE = "dense", "sparse"
ROW = 300  # Floats of a row, where exchanges are measured.
GBIT_S = 1e9 / 8  # In bytes.
LATENCY_S = 50e-6  # Of a message through a switch and two kernels.


class Line(NamedTuple):
    """Seconds that grow with something."""

    fixed: float
    slope: float

    def __call__(self, amount: float) -> float:
        """Returns the seconds of an amount."""
        return self.fixed + self.slope * amount


def fit(amounts: Sequence[float], seconds: Sequence[float]) -> Line:
    """Returns the line that has the least relative errors; no part is negative."""
    x, y = np.asarray(amounts, float), np.asarray(seconds, float)
    fixed, slope = np.linalg.lstsq(
        np.stack([1 / y, x / y], 1), np.ones(len(y)), rcond=None
    )[0]
    if slope < 0:
        return Line(1 / float(np.mean(1 / y)), 0.0)
    if fixed < 0:
        return Line(0.0, 1 / float(np.mean(x / y)))
    return Line(float(fixed), float(slope))


class Exchange(NamedTuple):
    """What all workers have for each other.

    Attributes:
        kind: DENSE: the sum of tensors. SPARSE: rows of a table, side by side.
        bytes: Of each worker.
    """

    kind: str
    bytes: float

    def messages(self, workers: int) -> int:
        """Returns how many come after each other."""
        return (workers - 1) * (2 if self.kind == DENSE else 3)

    def sent(self, workers: int) -> float:
        """Returns how many bytes a worker sends."""
        share = 2 / workers if self.kind == DENSE else 1
        return (workers - 1) * share * self.bytes


class Price(NamedTuple):
    """Seconds of a kind of exchange in TensorFlow itself.

    Attributes:
        agree: However many workers there are.
        message: Of each message.
        byte: Of each byte that a worker sends.
    """

    agree: float
    message: float
    byte: float


def price_of(kind: str, two: Line, four: float) -> Price:
    """Returns a price.

    Args:
        kind: Of the exchange.
        two: The seconds among two workers, of the bytes of each, which it sends once.
        four: The seconds of a tiny one among four workers.
    """
    tiny = Exchange(kind, 0)
    few, many = tiny.messages(2), tiny.messages(4)
    # All of it is messages at most: what is agreed on takes no less than no time.
    message = min(max(four - two.fixed, 0) / (many - few), two.fixed / few)
    return Price(two.fixed - few * message, message, two.slope)


@dataclasses.dataclass(frozen=True)
class Costs:
    """What was measured.

    Attributes:
        compute: Of the nodes of a shard.
        input: Of the nodes of all shards: each worker reads all of a batch.
        call: What a strategy adds to a step.
        prices: Of each kind of exchange.
        dense: Bytes of each gradient that is whole.
        row_bytes: Of a row of the embedding, with its index.
    """

    compute: Line
    input: Line
    call: float
    prices: dict[str, Price]
    dense: Sequence[int]
    row_bytes: int


class Shares(NamedTuple):
    """What the shards of a batch have, the mean over many batches.

    Attributes:
        mean: Nodes of a shard.
        most: Nodes of the largest shard.
        rows: Of the embedding, of the shard that has the most.
    """

    mean: float
    most: float
    rows: float


Sharing = Callable[[np.ndarray, int], list[np.ndarray]]


def draw_shares(
    sizes: np.ndarray,
    words: Sequence[np.ndarray],
    sharing: Sharing,
    workers: int,
    batch: int,
    draws: int = 100,
) -> Shares:
    """Returns what shards have, of batches drawn from trees (a bootstrap).

    Args:
        sizes: Nodes of each tree.
        words: The words of each tree.
        sharing: How a batch is shared.
        workers: How many there are.
        batch: Trees of each.
        draws: How many batches.
    """
    rng = np.random.default_rng(0)
    found = []
    for _ in range(draws):
        trees = rng.integers(len(sizes), size=workers * batch)
        shards = [trees[shard] for shard in sharing(sizes[trees], workers)]
        nodes = [int(sizes[shard].sum()) for shard in shards]
        rows = [len(np.unique(np.concatenate([words[t] for t in s]))) for s in shards]
        found.append((np.mean(nodes), max(nodes), max(rows)))
    return Shares(*map(float, np.mean(found, axis=0)))


def exchanges_of(costs: Costs, rows: float) -> list[Exchange]:
    """Returns the exchanges of a step, one after the other."""
    return [
        Exchange(DENSE, 4),  # How many trees there are.
        Exchange(DENSE, sum(costs.dense)),
        Exchange(SPARSE, rows * costs.row_bytes),
    ]


def exchange_seconds(
    costs: Costs, exchanges: Sequence[Exchange], workers: int, link: float
) -> float:
    """Returns the seconds of some exchanges, one after the other.

    Args:
        costs: Measured.
        exchanges: What there is to exchange.
        workers: How many there are; one has nothing to exchange.
        link: Bytes a second; infinite within a machine.
    """
    latency = 0.0 if math.isinf(link) else LATENCY_S
    total = 0.0
    for one in exchanges if workers > 1 else ():
        price = costs.prices[one.kind]
        total += price.agree + one.messages(workers) * (price.message + latency)
        total += one.sent(workers) * max(price.byte, 1 / link)
    return total


def step_seconds(
    costs: Costs, shares: Shares, workers: int, link: float, crowding: float = 1.0
) -> float:
    """Returns the seconds of a step.

    Args:
        costs: Measured.
        shares: Of that many workers.
        workers: How many there are.
        link: Bytes a second.
        crowding: How many times slower compute is where workers share a machine.
    """
    compute = crowding * costs.compute(shares.most)
    if workers == 1:
        return compute
    around = costs.call + costs.input(workers * shares.mean)
    exchanges = exchanges_of(costs, shares.rows)
    return compute + around + exchange_seconds(costs, exchanges, workers, link)


def idle_seconds(costs: Costs, shares: Shares) -> float:
    """Returns how long a worker waits for the one with the most nodes, on average."""
    return costs.compute(shares.most) - costs.compute(shares.mean)
