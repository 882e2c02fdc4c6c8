"""What a step takes on some machines, from what parts of it take here.

    step(N) = E[max over shards of compute(nodes)] + call + sharing(trees of all)
              + update(rows of all) - update(rows of one)
              + the sum over exchanges of agree + messages * (message + latency)
                                             + bytes sent * max(a byte here, 1 / link)
              - what the exchange of the number of trees waits beside the forward pass

A ring's all-reduce of S bytes is 2 (N - 1) messages after each other, and each worker
sends 2 (N - 1) / N * S bytes; an all-gather of S bytes of each worker is N - 1 messages
of S. Rows of sparse gradients are gathered with their indices; how many there are goes
with dense gradients (recursive_tf/distribute/sums.py).
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
FORWARD = 1 / 3  # Of a step's computation.
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


def rate(amounts: Sequence[float], seconds: Sequence[float]) -> Line:
    """Returns the line through no seconds of nothing; it does not go down."""
    return Line(0.0, max(sum(seconds), 0.0) / sum(amounts))


class Update(NamedTuple):
    """Seconds of an update of rows of a table.

    Attributes:
        fixed: However many there are.
        row: Of each slice, which is added to others of its row.
        distinct: Of each row that there is.
    """

    fixed: float
    row: float
    distinct: float

    def __call__(self, rows: float, distinct: float) -> float:
        """Returns the seconds of some slices of some rows."""
        return self.fixed + self.row * rows + self.distinct * distinct


def fit_update(
    amounts: Sequence[tuple[float, float]], seconds: Sequence[float]
) -> Update:
    """Returns what has the least relative errors, of numbers of slices and of rows."""
    y = np.asarray(seconds, float)
    x = np.column_stack([np.ones(len(y)), np.asarray(amounts, float)])
    found = np.linalg.lstsq(x / y[:, None], np.ones(len(y)), rcond=None)[0]
    return Update(*map(float, found))


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
        return (workers - 1) * (2 if self.kind == DENSE else 1)

    def sent(self, workers: int) -> float:
        """Returns how many bytes a worker sends."""
        share = 2 / workers if self.kind == DENSE else 1
        return (workers - 1) * share * self.bytes


TREES = Exchange(DENSE, 4)  # How many of them there are.


class Price(NamedTuple):
    """Seconds of a kind of exchange in TensorFlow itself.

    Attributes:
        agree: However many workers there are.
        message: Of each message.
        byte: Of each byte that a worker sends.
        busy: The share of `agree` and `message` that a worker computes, and not waits.
    """

    agree: float
    message: float
    byte: float
    busy: float


class Exchanged(NamedTuple):
    """What an exchange took.

    Attributes:
        seconds: From its beginning to its end.
        busy: Those of them that a worker computes.
    """

    seconds: float
    busy: float


def price_of(kind: str, byte: float, two: Exchanged, four: Exchanged) -> Price:
    """Returns a price.

    Four workers here share the cores of two, so they wait for each other. Of their
    messages, which are more, only what they compute counts; and what two workers wait
    is all for messages.

    Args:
        kind: Of the exchange.
        byte: Seconds of a byte that a worker sends.
        two: A tiny one among two workers.
        four: The same among four.
    """
    few, many = Exchange(kind, 0).messages(2), Exchange(kind, 0).messages(4)
    computed = max(four.busy - two.busy, 0) / (many - few)
    waited = max(two.seconds - two.busy, 0) / few
    # All of it is messages at most: what is agreed on takes no less than no time.
    message = min(computed + waited, two.seconds / few)
    busy = min(two.busy / two.seconds, 1.0)
    return Price(two.seconds - few * message, message, byte, busy)


@dataclasses.dataclass(frozen=True)
class Costs:
    """What was measured.

    Attributes:
        compute: Of the nodes of a shard.
        call: What a strategy adds to a step.
        sharing: Of the trees of all workers: what making a share adds to reading it.
        update: Of rows of the embedding.
        prices: Of each kind of exchange.
        dense: Bytes of each gradient that is whole.
        row_bytes: Of a row of the embedding, with its index.
    """

    compute: Line
    call: float
    sharing: Line
    update: Update
    prices: dict[str, Price]
    dense: Sequence[int]
    row_bytes: int


class Shares(NamedTuple):
    """What the shards of a batch have, the mean over many batches.

    Attributes:
        trees: Of all shards.
        mean: Nodes of a shard.
        most: Nodes of the largest shard.
        rows: Of the embedding, of the shard that has the most.
        gathered: Of all shards, each its own.
        distinct: Of all shards.
    """

    trees: int
    mean: float
    most: float
    rows: float
    gathered: float
    distinct: float


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
        each = [np.unique(np.concatenate([words[t] for t in s])) for s in shards]
        rows = [len(shard) for shard in each]
        distinct = len(np.unique(np.concatenate(each)))
        found.append((np.mean(nodes), max(nodes), max(rows), sum(rows), distinct))
    return Shares(workers * batch, *map(float, np.mean(found, axis=0)))


def exchanges_of(costs: Costs, rows: float) -> list[Exchange]:
    """Returns the exchanges of a step, one after the other."""
    return [
        TREES,
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
    if workers == 1:
        return 0.0
    return sum(
        _start_seconds(costs, one, workers, link)
        + one.sent(workers) * max(costs.prices[one.kind].byte, 1 / link)
        for one in exchanges
    )


def _start_seconds(costs: Costs, one: Exchange, workers: int, link: float) -> float:
    """Returns the seconds of an exchange with nothing in it."""
    price, latency = costs.prices[one.kind], 0.0 if math.isinf(link) else LATENCY_S
    return price.agree + one.messages(workers) * (price.message + latency)


def hidden_seconds(costs: Costs, shares: Shares, workers: int, link: float) -> float:
    """Returns what workers wait for the number of trees while they compute."""
    if workers == 1:
        return 0.0
    waits = (1 - costs.prices[DENSE].busy) * _start_seconds(costs, TREES, workers, link)
    return min(waits, FORWARD * costs.compute(shares.mean))


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
    exchanges = exchanges_of(costs, shares.rows)
    return (
        compute
        + costs.call
        + costs.sharing(shares.trees)
        + update_seconds(costs, shares)
        + exchange_seconds(costs, exchanges, workers, link)
        - hidden_seconds(costs, shares, workers, link)
    )


def update_seconds(costs: Costs, shares: Shares) -> float:
    """Returns what updates of the rows of all take longer than those of one's own."""
    own = costs.update(shares.rows, shares.rows)
    return costs.update(shares.gathered, shares.distinct) - own


def idle_seconds(costs: Costs, shares: Shares) -> float:
    """Returns how long a worker waits for the one with the most nodes, on average."""
    return costs.compute(shares.most) - costs.compute(shares.mean)
