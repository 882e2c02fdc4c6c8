"""Whether one revision is slower than another: a guard against regressions of speed.

    python -m benchmarks.compare main HEAD              # ten minutes
    python -m benchmarks.compare main HEAD --data=sst   # on sst/train.txt
    python -m benchmarks.compare main HEAD --minutes=20 # sees smaller changes
    python -m benchmarks.compare HEAD $(git stash create)   # what is not committed
    python -m benchmarks.compare HEAD HEAD --quick      # only shows that it runs

Builds both revisions of the repository, once each, and measures calls, steps of the
TreeLSTM, tracing and memory in turn. `verdict.py` says how its own noise is measured
and what is slower. Exit status: 0 if nothing is, 1 if something is, 2 if that cannot be
said. It uses two processors, and needs a machine that does nothing else.
"""

import argparse
import dataclasses
import pathlib
import random
import signal
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from benchmarks.compare import builds, report, rounds
from benchmarks.compare.pieces import QUICK, Sizes, all_pieces, write_trees
from benchmarks.compare.rounds import Measured
from benchmarks.compare.verdict import (
    LEAST_CHANGE,
    SLOWER,
    UNKNOWN,
    Verdict,
    judge,
)
from benchmarks.cores import use_two_cores
from benchmarks.origin import origin, portable
from benchmarks.workers import WorkerError, ended_in_order

NOTHING_SLOWER, SOMETHING_SLOWER, CANNOT_SAY = 0, 1, 2


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Returns what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compare",
        description="Whether one revision is slower than another.",
    )
    parser.add_argument("before", metavar="REV1", help="what is compared with")
    parser.add_argument("after", metavar="REV2", help="what may be slower")
    parser.add_argument("--data", type=pathlib.Path, help="folder with train.txt")
    parser.add_argument("--minutes", type=float, default=8, help="of measuring")
    parser.add_argument(
        "--least", type=float, default=LEAST_CHANGE, help="change that counts"
    )
    parser.add_argument("--quick", action="store_true", help="only show that it runs")
    parser.add_argument("--json", type=pathlib.Path, help="file to write")
    parser.add_argument(
        "--cache", type=pathlib.Path, default=builds.CACHE, help="folder of builds"
    )
    asked = parser.parse_args(arguments)
    if asked.json and not asked.json.resolve().parent.is_dir():
        parser.error(f"--json={asked.json}: there is no such folder.")
    return asked


def compare(asked: argparse.Namespace) -> int:
    """Builds, measures and prints. Returns the exit status."""
    sizes = QUICK if asked.quick else Sizes()
    commits = {"A": builds.commit_of(asked.before), "B": builds.commit_of(asked.after)}
    print(
        f"A is {asked.before}, {commits['A']}; B is {asked.after}, {commits['B']}.",
        flush=True,
    )
    folders = {
        role: builds.built(commits[role[0]], asked.cache.resolve())
        for role in rounds.ROLES
    }
    use_two_cores()
    with tempfile.TemporaryDirectory() as scratch:
        trees = pathlib.Path(scratch) / "trees.txt"
        write_trees(trees, sizes, asked.data)
        start = rounds.starter(folders, sizes, trees)
        seconds = 0 if asked.quick else 60 * asked.minutes
        measured = rounds.measure(start, sizes, seconds, random.Random())
    verdicts = print_table(sizes, measured, asked.least)
    if asked.json:
        where = origin("benchmarks.compare", [asked.before, asked.after])
        described = settings_of(asked, commits, sizes)
        report.write_json(
            asked.json, all_pieces(sizes), measured, verdicts, described, where
        )
    return NOTHING_SLOWER if asked.quick else status_of(verdicts)


def settings_of(
    asked: argparse.Namespace, commits: dict[str, str], sizes: Sizes
) -> dict[str, Any]:
    """Returns what a reader of the runs has to know of the command."""
    return {
        "revisions": {"A": asked.before, "B": asked.after},
        "commits": commits,
        "data": portable(str(asked.data)) if asked.data else None,
        "minutes": asked.minutes,
        "least_change": asked.least,
        "quick": asked.quick,
        "sizes": dataclasses.asdict(sizes),
    }


def print_table(sizes: Sizes, measured: Measured, least: float) -> list[Verdict]:
    """Prints a line a figure, and returns the verdicts."""
    print(*report.HEADER, sep="\n")
    verdicts = []
    for piece in all_pieces(sizes):
        runs = measured.runs[piece.name]
        verdicts.append(judge(piece.name, runs, piece.is_rate, least))
        print(report.line(piece, runs, verdicts[-1]))
    print(f"\n{measured.rounds} rounds. {conclusion(verdicts)}", flush=True)
    return verdicts


def conclusion(verdicts: Sequence[Verdict]) -> str:
    """Returns what the table says, in words."""
    slower = [
        f"{v.name}: {v.ratio.median:.3f} times the cost, and up to {v.bound:.3f} is "
        "noise or too little."
        for v in verdicts
        if v.outcome == SLOWER
    ]
    said = ["B is slower:", *slower] if slower else ["Nothing is surely slower."]
    if any(verdict.outcome == UNKNOWN for verdict in verdicts):
        said.append("Not all figures have the six runs of a verdict: more --minutes.")
    return "\n".join(said)


def status_of(verdicts: Sequence[Verdict]) -> int:
    """Returns the exit status."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if SLOWER in outcomes:
        return SOMETHING_SLOWER
    return CANNOT_SAY if UNKNOWN in outcomes else NOTHING_SLOWER


def main(arguments: Sequence[str]) -> int:
    """Runs the command. Returns the exit status."""
    asked = parse(arguments)
    try:
        with ended_in_order():
            return compare(asked)
    except (builds.BuildError, WorkerError, OSError, ValueError) as error:
        print(f"compare: {error}", file=sys.stderr)
        return CANNOT_SAY
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
