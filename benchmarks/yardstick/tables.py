"""What a session found, as Markdown tables."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchmarks.yardstick.bounds import Needs, bounds
from benchmarks.yardstick.systems import OURS, SYSTEMS

Found = Mapping[str, Any]
Row = Mapping[str, Any]

GIGA = 1e9
MEGA = 1e6
MS = 1e3


def all_of(found: Found) -> Iterator[str]:
    """Yields every table of a session, each under its heading."""
    yield machine(found)
    for work in found["plan"]["works"]:
        yield speeds(found, work)
        yield limits(found, work)
        yield breakdown(found, work)
    yield behind(found)
    if found["left_out"]:
        yield left_out(found)


def speeds(found: Found, work: str) -> str:
    """Returns the trees/s of each system, a table for each optimizer and mode."""
    tables = dict.fromkeys((r["optimizer"], r["mode"]) for r in rows_of(found, work))
    return "\n\n".join(
        f"{_title(work, mode, optimizer)}:\n\n"
        + speed_table(found, work, optimizer, mode)
        for optimizer, mode in tables
    )


def speed_table(found: Found, work: str, optimizer: str, mode: str) -> str:
    """Returns a line for each system, a column for each batch size.

    A cell has the median, half of the range of the runs as a share of it, and how many
    times the speed of the system ours has: the median of the ratios of each round.
    """
    rows = rows_of(found, work, optimizer, mode)
    names = [name for name in SYSTEMS if any(name in r["trees_per_s"] for r in rows)]
    lines = [[SYSTEMS[name].title, *(_cell(r, name) for r in rows)] for name in names]
    return table(["trees/s, batch of", *(str(r["batch"]) for r in rows)], lines)


def limits(found: Found, work: str) -> str:
    """Returns what each row needs, the bound that applies and the share reached."""
    lines = []
    for row in rows_of(found, work, found["plan"]["optimizers"][0]):
        seconds = row["batch"] / statistics.median(row["trees_per_s"][OURS])
        at_least = bounds(Needs(row["flops"], row["bytes"]), found["limits"])
        which = max(at_least, key=at_least.__getitem__)
        lines.append(
            [
                f"{row['mode']}, {row['batch']}",
                number(row["flops"] / MEGA),
                number(row["bytes"] / MEGA),
                number(MS * seconds),
                *(number(MS * at_least[name]) for name in at_least),
                f"{which} {at_least[which] / seconds:.0%}",
                f"{at_least['products'] / seconds:.0%}",
            ]
        )
    header = ["step", "MFLOP", "MB", "ms", "products", "memory", "call"]
    return (
        f"{work}, a step of ours in ms, and what one that computes each node by itself "
        "cannot be faster than:\n\n"
        + table([*header, "share of the bound", "of products' peak"], lines)
    )


def breakdown(found: Found, work: str) -> str:
    """Returns where each step of ours spends its time."""
    steps = [each for each in found["breakdowns"] if each["work"] == work]
    parts = list(dict.fromkeys(part for each in steps for part in each["ms"]))
    lines = [
        [
            f"{each['mode']}, {each['batch']}",
            *(number(each["ms"].get(part, 0.0)) for part in parts),
            number(sum(each["ms"].values())),
        ]
        for each in steps
    ]
    return f"{work}, parts of a step of ours, ms:\n\n" + table(
        ["step", *parts, "sum"], lines
    )


def behind(found: Found) -> str:
    """Returns every row in which another system is ahead of ours, and by how much."""
    lines = []
    for row in found["rows"]:
        for name in row["trees_per_s"]:
            ratio = ratio_to(row, name)
            if not SYSTEMS[name].is_ours and ratio < 1:
                step = f"{row['work']}, {row['mode']}, {row['batch']}"
                where = [step, row["optimizer"], SYSTEMS[name].title]
                lines.append([*where, f"{ratio:.2f}", _largest(found, row)])
    header = [
        "step",
        "optimizer",
        "ahead of us",
        "ours / theirs",
        "largest parts of ours",
    ]
    return "Where another system is ahead:\n\n" + table(header, lines)


def _largest(found: Found, row: Row) -> str:
    """Returns the two parts of our step that take longest, with their shares."""
    keys = ("work", "mode", "batch")
    for each in found["breakdowns"]:
        if all(each[key] == row[key] for key in keys):
            total = sum(each["ms"].values())
            parts = sorted(each["ms"].items(), key=lambda part: -part[1])[:2]
            return ", ".join(f"{name} {ms / total:.0%}" for name, ms in parts)
    return ""


def machine(found: Found) -> str:
    """Returns what was measured where, and what the machine could do."""
    limit = found["limits"]
    lines = [
        ["command", f"`{found['command']}`"],
        ["revision, day", f"{found['revision']}, {found['time']}"],
        ["processor", f"{found['processor']}, {found['processors']} used"],
        ["TensorFlow, Python", f"{found['tensorflow']}, {found['python']}"],
        ["products at most", f"{limit['gemm_peak'] / GIGA:.0f} GFLOP/s"],
        ["copies", f"{limit['copy'] / GIGA:.0f} GB/s, read and written"],
        ["an empty call, a launch", _in_us(limit["call_s"], limit["launch_s"])],
    ]
    return table(["", ""], lines)


def _in_us(*seconds: float) -> str:
    return ", ".join(f"{number(MEGA * s)} us" for s in seconds)


def gemm(found: Found) -> str:
    """Returns the rates of products by their number of rows, in GFLOP/s."""
    rates = found["limits"]["gemm"]
    rows = list(next(iter(rates.values())))
    lines = [
        [name, *(number(by[r] / GIGA) for r in rows)] for name, by in rates.items()
    ]
    return table(["GFLOP/s, rows", *rows], lines)


def left_out(found: Found) -> str:
    """Returns the systems that were not timed, and why."""
    lines = [[name, " ".join(why.split())] for name, why in found["left_out"].items()]
    return "Not timed:\n\n" + table(["system", "why"], lines)


def rows_of(
    found: Found, work: str, optimizer: str | None = None, mode: str | None = None
) -> list[Row]:
    """Returns the rows of a work, and of an optimizer and a mode if they are given."""
    return [
        row
        for row in found["rows"]
        if row["work"] == work
        and optimizer in (None, row["optimizer"])
        and mode in (None, row["mode"])
    ]


def ratio_to(row: Row, name: str) -> float:
    """Returns how many times the speed of a system ours has, in the median round."""
    pairs = zip(row["trees_per_s"][OURS], row["trees_per_s"][name], strict=False)
    return statistics.median(ours / theirs for ours, theirs in pairs)


def _cell(row: Row, name: str) -> str:
    runs = row["trees_per_s"].get(name)
    if not runs:
        return ""
    median = statistics.median(runs)
    spread = (max(runs) - min(runs)) / 2 / median
    ratio = "" if name == OURS else f" ({ratio_to(row, name):.2f})"
    return f"{median:.0f} ±{spread:.0%}{ratio}"


def _title(work: str, mode: str, optimizer: str) -> str:
    return f"{work}, {mode}" + (f", {optimizer}" if mode == "training" else "")


def number(value: float) -> str:
    """Returns three digits, or all digits before the point; no exponents.

    >>> number(0.01234), number(2.0341), number(150321.7)
    ('0.012', '2.03', '150322')
    """
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) >= 0.1 else f"{value:.3f}"


def table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Returns a Markdown table."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
