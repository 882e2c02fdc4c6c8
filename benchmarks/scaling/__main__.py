"""How training scales: one and two workers here.

    python -m benchmarks.scaling                  # random trees of 1-37 words
    python -m benchmarks.scaling --data=sst
    python -m benchmarks.scaling --link=1gbit     # as root: on a slow link, too
    python -m benchmarks.scaling --json s.json    # keeps every run

Steps of the TreeLSTM by Keras's `fit` under a MultiWorkerMirroredStrategy; a worker has
one thread. It needs a machine with two cores that does nothing else, for some minutes.
"""

import argparse
import pathlib
import re
import sys
from collections.abc import Sequence

from benchmarks import table
from benchmarks.origin import origin, write
from benchmarks.scaling import processes, report
from benchmarks.scaling.jobs import Jobs
from benchmarks.scaling.link import why_not
from benchmarks.scaling.measuring import Measured, Plan, as_json, measure
from benchmarks.treelstm_model import TREEBANK, Size

QUICK = Size(50, 4, 4)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Returns what the command line says."""
    parser = argparse.ArgumentParser(description="training shared among machines")
    parser.add_argument("--data", help="folder with train.txt")
    parser.add_argument("--trees", type=int, default=4096, help="how many to use")
    parser.add_argument(
        "--batch_sizes",
        type=int,
        nargs="+",
        default=[25, 64, 256, 512],
        help="of a worker",
    )
    parser.add_argument(
        "--executors", nargs="+", default=["batched", "dataflow"], help="names"
    )
    parser.add_argument(
        "--rounds", type=int, default=3, help="times that all steps are measured"
    )
    parser.add_argument("--link", type=_rate, help="e.g. 1gbit: as root, on Linux")
    parser.add_argument("--quick", action="store_true", help="only show that it runs")
    parser.add_argument("--json", type=pathlib.Path, help="file to write")
    chosen = parser.parse_args(arguments)
    if chosen.link and why_not():
        parser.error(f"--link: {why_not()}")
    return chosen


def _rate(text: str) -> str:
    if not re.fullmatch(r"\d+gbit", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number and gbit")
    return text


def plan_of(chosen: argparse.Namespace) -> Plan:
    """Returns what to measure."""
    jobs = Jobs(chosen.data, chosen.trees, QUICK if chosen.quick else TREEBANK)
    rounds = 1 if chosen.quick else chosen.rounds
    return Plan(
        jobs, chosen.batch_sizes, chosen.executors, chosen.link, rounds, chosen.quick
    )


def print_report(measured: Measured, link: str | None) -> None:
    """Prints all tables."""
    print(f"\n{report.TITLE}:\n\n{report.steps(measured, link)}")
    goals = map(table.line, report.goals(measured))
    print("\nGoals\n", *table.HEADER, *goals, sep="\n")


def main(arguments: Sequence[str]) -> None:
    """Measures and prints."""
    chosen = parse(arguments)
    processes.use_one_thread()
    measured = measure(plan_of(chosen))
    print_report(measured, chosen.link)
    if chosen.json:
        found = origin("benchmarks.scaling", arguments)
        found |= {"link": chosen.link, "measured": as_json(measured)}
        write(found, chosen.json)


if __name__ == "__main__":
    main(sys.argv[1:])
