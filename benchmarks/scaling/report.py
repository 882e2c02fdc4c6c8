"""Tables of what was measured."""

from collections.abc import Iterator, Sequence

from benchmarks.figures import Figure, at_least, number
from benchmarks.scaling.measuring import Measured, seconds

MS = 1e3
GOAL = at_least(0.85)

Row = Sequence[object]


def of_two(measured: Measured) -> Iterator[Row]:
    """Yields what two workers take, beside one, and beside two that share nothing."""
    for key, pair in measured.pair.items():
        executor, batch = key
        one, two = seconds(measured.alone[key]), seconds(pair)
        of_both = seconds(measured.alone[executor, 2 * batch])
        apart = seconds(measured.apart[key])
        yield (
            *key,
            *(number(MS * t) for t in (one, apart, two)),
            *(f"{time / two:.2f}" for time in (one, apart, of_both)),
            # The loopback has what both have sent.
            f"{pair.bytes_sent / 2e3:.0f}",
        )


def on_link(measured: Measured) -> Iterator[Row]:
    """Yields what two workers take on a link."""
    for key, pair in measured.linked.items():
        one, two = seconds(measured.alone[key]), seconds(pair)
        yield (
            *key,
            number(MS * two),
            f"{one / two:.2f}",
            f"{pair.bytes_sent / 1e3:.0f}",
        )


def goals(measured: Measured) -> Iterator[Figure]:
    """Yields the goal, of each number of trees."""
    for key, pair in measured.pair.items():
        executor, batch = key
        share = seconds(measured.alone[key]) / seconds(pair)
        what = f"two workers, {executor}, {batch} trees a worker"
        yield Figure(what, "efficiency", [share], GOAL)
