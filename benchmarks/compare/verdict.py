"""Whether a figure of B is worse than that of A by more than A is than itself.

A run is a figure of A1 and A2, two processes of one revision, and of B, the other one.
What is looked at is how many times as much one costs as another one, in the same run:
`A2 / A1`, which is noise, and `B / A`, where A is the geometric mean of A1 and A2.

The statistic is the median over runs, with its exact interval of order statistics:
whatever the distribution, the median is between the k-th smallest and the k-th largest
of n independent runs with a probability that is a sum of binomial coefficients (the
sign test; e.g. for n = 9 and k = 2, 96%). The noise of a figure is the end of the
interval of `A2 / A1` that is farther from 1. B is slower if

1. its median is beyond the noise, and beyond a least change (3% unless told), and
2. the whole interval of `B / A` is above 1.

Both widen on a machine that does something else. With fewer than six runs there is no
interval of 95%, and no verdict.
"""

import dataclasses
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

LEVEL = 0.95
LEAST_CHANGE = 0.03
SLOWER, FASTER, SAME, UNKNOWN = "slower", "faster", "", "too few runs"


class Interval(NamedTuple):
    """A median, and between what it is with a probability of LEVEL."""

    median: float
    low: float
    high: float
    is_sure: bool = True


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What became of one figure; ratios are of costs, so above 1 is worse.

    Attributes:
        name: Of the figure.
        ratio: B / A.
        noise: A2 / A1.
        bound: What the median of `ratio` has to stay below.
        outcome: SLOWER, FASTER, SAME or UNKNOWN.
    """

    name: str
    ratio: Interval
    noise: Interval
    bound: float
    outcome: str


def interval(values: Sequence[float]) -> Interval:
    """Returns the median of independent runs, and its interval.

    >>> interval([1, 2, 3, 4, 5, 6, 7, 8, 9])
    Interval(median=5, low=2, high=8, is_sure=True)
    >>> interval([3, 1, 2])
    Interval(median=2, low=1, high=3, is_sure=False)
    """
    ordered, n = sorted(values), len(values)
    # The chance that the median is below the k-th smallest, or above the k-th largest:
    # fewer than k of n coins show heads.
    outside, k = 2 / 2**n, 1
    is_sure = outside <= 1 - LEVEL
    while k < n and outside + 2 * math.comb(n, k) / 2**n <= 1 - LEVEL:
        outside += 2 * math.comb(n, k) / 2**n
        k += 1
    return Interval(statistics.median(ordered), ordered[k - 1], ordered[n - k], is_sure)


def judge(
    name: str,
    runs: Mapping[str, Sequence[float]],
    is_rate: bool = False,
    least_change: float = LEAST_CHANGE,
) -> Verdict:
    """Returns the verdict on one figure.

    Args:
        name: Of the figure.
        runs: Of A1, A2 and B, a number a run.
        is_rate: Whether larger is better, as of trees/s.
        least_change: E.g. 0.03: what is smaller is never called slower.
    """
    sign = -1 if is_rate else 1
    logs = [
        tuple(sign * math.log(run) for run in three)
        for three in zip(runs["A1"], runs["A2"], runs["B"], strict=True)
    ]
    ratio = interval([b - (a1 + a2) / 2 for a1, a2, b in logs])
    noise = interval([a2 - a1 for a1, a2, _ in logs])
    bound = max(-noise.low, noise.high, math.log1p(least_change))
    outcome = _outcome(ratio, bound) if ratio.is_sure else UNKNOWN
    return Verdict(name, _exp(ratio), _exp(noise), math.exp(bound), outcome)


def _outcome(ratio: Interval, bound: float) -> str:
    if ratio.median > bound and ratio.low > 0:
        return SLOWER
    if ratio.median < -bound and ratio.high < 0:
        return FASTER
    return SAME


def _exp(logs: Interval) -> Interval:
    return Interval(*map(math.exp, logs[:3]), logs.is_sure)
