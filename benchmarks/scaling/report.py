"""Tables of what was measured."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.figures import Figure, at_least, number
from benchmarks.scaling.measuring import Key, Measured, seconds
from benchmarks.yardstick.tables import table

MS = 1e3
GOAL = at_least(0.85)
TITLE = (
    "Training, ms a step; trees/s of two workers as a share of twice those of one "
    "(efficiency), of two that share nothing, and as a multiple of those of one that "
    "has the trees of both (strong); what each of them sends"
)


def steps(measured: Measured, link: str | None) -> str:
    """Returns a Markdown table, a line for each number of trees of a worker.

    Args:
        measured: Seconds, and bytes.
        link: The speed of the link between two hosts, if they were measured.
    """
    header = ["executor", "trees a worker", "one worker", "two apart", "two"]
    header += ["efficiency", "of two apart", "strong"]
    header += [f"efficiency at {link}"] * bool(link) + ["KB that each sends"]
    return table(header, (_line(measured, key, link) for key in measured.pair))


def goals(measured: Measured) -> Iterator[Figure]:
    """Yields the goal, of each number of trees."""
    for key, pair in measured.pair.items():
        executor, batch = key
        share = seconds(measured.alone[key]) / seconds(pair)
        what = f"two workers, {executor}, {batch} trees a worker"
        yield Figure(what, "efficiency", [share], GOAL)


def _line(measured: Measured, key: Key, link: str | None) -> list[str]:
    executor, batch = key
    pair = measured.pair[key]
    one, two = seconds(measured.alone[key]), seconds(pair)
    apart = seconds(measured.apart[key])
    of_both = seconds(measured.alone[executor, 2 * batch])
    cells = [executor, str(batch), *(number(MS * t) for t in (one, apart, two))]
    cells += [f"{one / two:.0%}", f"{apart / two:.0%}", f"{of_both / two:.2f}"]
    if link:
        cells.append(_on_link(measured, key))
    # The loopback has what both have sent.
    return [*cells, f"{pair.bytes_sent / 2e3:.0f}"]


def _on_link(measured: Measured, key: Key) -> str:
    """Returns the efficiency of two hosts, if this executor was measured there."""
    if key not in measured.linked:
        return ""
    return f"{seconds(measured.alone[key]) / seconds(measured.linked[key]):.0%}"
