"""The yardstick: our programs, their peers and the machine's limit, in one run.

    python -m benchmarks --quick                  # under ten minutes
    python -m benchmarks --full --data sst        # what docs/benchmarks.md is made of
    python -m benchmarks --peers torch,jax        # makes environments of peers first

Every system has processes of its own, and is measured in turn with the others, in a
random order each round. Before that, loss and gradients have to agree with ours to five
digits. Prints tables of medians; `--json` keeps every run, from which
`python -m benchmarks.pages` makes the page and its charts.
"""

import argparse
import dataclasses
import json
import pathlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.choices import names_of
from benchmarks.cores import use_two_cores
from benchmarks.origin import origin, portable, write
from benchmarks.peers import environments
from benchmarks.peers.command import OPTIMIZERS
from benchmarks.workers import ended_in_order
from benchmarks.works import making
from benchmarks.yardstick import session, tables
from benchmarks.yardstick.session import Plan
from benchmarks.yardstick.systems import OURS, SYSTEMS, parts_of_ours

QUICK = Plan(["treelstm"], ["sgd"], [1, 25], rounds=2, seconds=0.5)
FULL = Plan([*making.WORKS], [*OPTIMIZERS], None, rounds=5, seconds=1.0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, prints tables, and writes what was found."""
    arguments = sys.argv[1:] if arguments is None else arguments
    asked = parse(arguments)
    use_two_cores()
    with ended_in_order():
        found = measure(asked, origin("benchmarks", arguments))
    write(found, asked.json)
    print("\n\n".join(tables.all_of(found)))


def measure(asked: argparse.Namespace, where: Mapping[str, Any]) -> dict[str, Any]:
    """Returns everything that the command finds, with where it was found."""
    not_made = _make_environments(asked.peers)
    plan = _plan(asked)
    systems = [SYSTEMS[name] for name in asked.systems]
    # Runs of one pass show that they run, and say nothing of how fast.
    limits = _limits(is_quick=not plan.seconds)
    parts = parts_of_ours(limits["gemm_peak"])
    planned = dataclasses.asdict(plan)
    planned["data"] = plan.data and portable(plan.data)
    found = {**where, "plan": planned, "limits": limits}
    return found | vars(session.run(plan, systems, parts, not_made))


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Returns what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_true", help="a few rows (default)")
    effort.add_argument("--full", action="store_true", help="all works and batch sizes")
    parser.add_argument(
        "--works", type=names_of(making.WORKS), help="e.g. treefc,treernn"
    )
    parser.add_argument("--systems", type=names_of(SYSTEMS), default=[*SYSTEMS])
    parser.add_argument("--batches", type=_numbers, help="batch sizes, e.g. 1,25")
    parser.add_argument("--rounds", type=int, help="runs of each system")
    parser.add_argument("--seconds", type=float, help="of a run, at least")
    parser.add_argument("--data", help="folder with train.txt; else trees are made")
    parser.add_argument(
        "--peers",
        type=names_of(environments.ENVIRONMENTS),
        default=[],
        help="environments to make first, e.g. torch,jax",
    )
    parser.add_argument("--json", type=pathlib.Path, help="file to write")
    asked = parser.parse_args(arguments)
    if OURS not in asked.systems:
        parser.error(f"--systems: the others are compared with {OURS}; add it.")
    return asked


def _plan(asked: argparse.Namespace) -> Plan:
    plan = FULL if asked.full else QUICK
    return Plan(
        asked.works or plan.works,
        plan.optimizers,
        asked.batches or plan.batch_sizes,
        asked.rounds or plan.rounds,
        plan.seconds if asked.seconds is None else asked.seconds,
        asked.data,
    )


def _make_environments(names: Sequence[str]) -> dict[str, str]:
    """Returns why some could not be made."""
    failures = {}
    for name in names:
        try:
            environments.make(name)
        except environments.CouldNotInstallError as error:
            failures[f"environment {name}"] = str(error)
    return failures


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def _limits(is_quick: bool) -> dict[str, Any]:
    """Returns what the machine could do, measured by another process."""
    command = [sys.executable, "-m", "benchmarks.yardstick.machine"]
    command += ["--quick"] if is_quick else []
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
