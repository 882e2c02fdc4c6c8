"""Graphi's networks on teams of threads, beside TensorFlow's own scheduling.

    python -m benchmarks.graphi.schedules
    python -m benchmarks.graphi.schedules --sizes small --networks LSTM PathNet

A step computes the gradients of a batch, as a `tf.function`. `rtf.profile` measures it
under each schedule, and once more in the naive order; `rtf.simulate` says what it would
take on this machine, to be held against what it took, and on 64 cores. Of the small
sizes TensorFlow's numbers of threads are tried as well, each in a process of its own.
"""

from __future__ import annotations

import argparse
import functools
import json
import pathlib
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import recursive_tf as rtf
from benchmarks.cores import CORES, use_two_cores
from benchmarks.graphi.networks import KINDS
from benchmarks.graphi.page import schedules_table
from benchmarks.origin import origin, write
from benchmarks.timing import run_in_turn, seconds_of

# The paper's batches divided by this: a machine of two cores has not the time.
SHARES = {"small": 1, "medium": 4, "large": 16}
CRITICAL = rtf.Schedule(CORES, 1)
# Executors and threads of each, as in Figure 6.
SIMULATED = tuple((k, 64 // k) for k in (1, 2, 4, 8, 16, 32, 64))
# TensorFlow's between and within operations; the last is its default here.
THREADS = ((1, 1), (1, 2), (2, 1), (2, 2))
# What is run first, and not counted: executors measure.
FIRST_RUNS = 10


def step_of(network: str, size: str, batch: int) -> Callable[[], Any]:
    """Returns a step of training a network, which has run."""
    kind = KINDS[network]
    made = kind.make(batch, *kind.sizes[size])
    step = tf.function(made.step, autograph=False)
    return functools.partial(step, *made.inputs)


def measure(network: str, size: str, batch: int, repeats: int) -> dict[str, Any]:
    """Returns what a row of the page says of a network."""
    step = step_of(network, size, batch)
    profile = rtf.profile(step, repeats=repeats, verbose=False)
    orders = by_order(network, size, batch, repeats)
    simulated = {
        f"{k}x{t}": rtf.simulate(profile, k, t).seconds
        for k, t in (*SIMULATED, (1, 1), (1, CORES), (CORES, 1))
    }
    naive = {
        f"{k}x{t}": rtf.simulate(profile, k, t, "first_come").seconds
        for k, t in SIMULATED
    }
    where = {"network": network, "size": size, "batch": batch}
    seconds = {name: list(runs) for name, runs in profile.seconds.items()}
    return where | {
        "seconds": seconds,
        "orders": orders,
        "simulated": simulated,
        "simulated_first_come": naive,
    }


def by_order(
    network: str, size: str, batch: int, repeats: int
) -> dict[str, list[float]]:
    """Returns the seconds of a step in each order.

    There are two copies of the step for each, made in opposite turns, because it
    matters a little when the measurements of an executor were made.
    """
    orders = ("critical_path", "first_come", "first_come", "critical_path")
    steps = {
        f"{order} {number}": rtf.parallel(
            step_of(network, size, batch), rtf.Schedule(CORES, 1, order)
        )
        for number, order in enumerate(orders)
    }
    seconds: dict[str, list[float]] = {order: [] for order in orders}
    for name, runs in seconds_in_turn(steps, repeats).items():
        seconds[name.partition(" ")[0]] += runs
    return seconds


def seconds_in_turn(
    steps: dict[str, Callable[[], Any]], repeats: int
) -> dict[str, list[float]]:
    """Returns the seconds of steps, which are run in turn."""
    for step in steps.values():
        for _ in range(FIRST_RUNS):
            step()
    runs = {name: functools.partial(seconds_of, step) for name, step in steps.items()}
    return run_in_turn(runs, repeats)


def with_threads(network: str, batch: int, repeats: int) -> dict[str, float]:
    """Returns TensorFlow's time over that of teams, by its numbers of threads."""
    found = {}
    for between, within in THREADS:
        command = [sys.executable, "-m", "benchmarks.graphi.schedules", "--one"]
        command += [network, str(batch), str(repeats), str(between), str(within)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found[f"{between}+{within}"] = json.loads(done.stdout.splitlines()[-1])
    return found


def one(network: str, batch: int, repeats: int, between: int, within: int) -> float:
    """Returns the ratio, in a process with so many threads of TensorFlow."""
    tf.config.threading.set_inter_op_parallelism_threads(between)
    tf.config.threading.set_intra_op_parallelism_threads(within)
    step = step_of(network, "small", batch)
    steps = {"": step, "teams": rtf.parallel(step, CRITICAL)}
    runs = seconds_in_turn(steps, repeats)
    return statistics.median(runs[""]) / statistics.median(runs["teams"])


def main(arguments: Sequence[str]) -> None:
    """Measures, prints a table, and writes what was found."""
    use_two_cores()
    if arguments[:1] == ["--one"]:
        network, *numbers = arguments[1:]
        print(one(network, *map(int, numbers)))
        return
    asked = _parse(arguments)
    where = origin("benchmarks.graphi.schedules", arguments)
    rows = []
    for size in asked.sizes:
        for network in asked.networks:
            batch = asked.batch or max(1, KINDS[network].batch // SHARES[size])
            row = measure(network, size, batch, asked.repeats)
            if size == "small":
                row["threads"] = with_threads(network, batch, asked.repeats)
            rows.append(row)
            print(schedules_table([row]), flush=True)
    write({**where, "rows": rows}, asked.json)
    print(schedules_table(rows))


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    names = list(KINDS)
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graphi.schedules")
    parser.add_argument("--networks", nargs="*", choices=names, default=names)
    parser.add_argument("--sizes", nargs="*", choices=SHARES, default=list(SHARES))
    parser.add_argument("--batch", type=int, help="examples, other than the default")
    parser.add_argument("--repeats", type=int, default=11, help="runs of each schedule")
    parser.add_argument("--json", type=pathlib.Path, help="file to write")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
