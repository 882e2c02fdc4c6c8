"""Networks that are no recursions, as one SubGraph of a batch, beside a `tf.function`.

    python -m benchmarks.graphi
    python -m benchmarks.graphi --sizes small medium

A step computes the gradients of a batch. The three programs of a network are measured
in turn in one process, and have to agree first.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import pathlib
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.cores import use_two_cores
from benchmarks.graphi.network import Kind, Network
from benchmarks.graphi.networks import KINDS
from benchmarks.graphi.page import PLAIN, PROGRAMS, table_of
from benchmarks.origin import origin, write
from benchmarks.timing import run_in_turn

# Of the largest gradient of a weight. TensorFlow fuses operations of a `tf.function`,
# so the largest number of a pooling may be another one.
TOLERANCE = 0.05


def program_of(network: Network, executor: str) -> Network:
    """Returns a network whose loss is a root call."""

    def loss(*inputs: tf.Tensor) -> Any:
        with rtf.SubGraph("network", executor=executor) as subgraph:
            taken = [subgraph.input(tf.TensorSpec(x.shape, x.dtype)) for x in inputs]
            subgraph.output(network.loss(*taken))
        return subgraph(*inputs)

    return dataclasses.replace(network, loss=loss)


def measure(kind: Kind, size: str, batch: int, repeats: int) -> dict[str, Any]:
    """Returns the seconds of each program, of processors and on the clock."""
    network = kind.make(batch, *kind.sizes[size])
    steps = {PLAIN: network} | {
        executor: program_of(network, executor)
        for executor in PROGRAMS
        if executor != PLAIN
    }
    traced = {
        name: tf.function(each.step, autograph=False) for name, each in steps.items()
    }
    found = {name: step(*network.inputs) for name, step in traced.items()}
    for name, gradients in found.items():
        _check(f"{kind.name}, {name}", gradients, found[PLAIN])
    seconds: dict[str, list[float]] = {name: [] for name in traced}

    def run(name: str) -> float:
        start, used = time.perf_counter(), time.process_time()
        np.asarray(traced[name](*network.inputs)[0])
        seconds[name].append(time.perf_counter() - start)
        return time.process_time() - used

    runs = {name: functools.partial(run, name) for name in traced}
    used = run_in_turn(runs, repeats, f"{kind.name}, {size}")
    where = {"network": kind.name, "size": size, "batch": batch}
    return where | {"seconds": seconds, "processor_seconds": used}


def _check(name: str, found: Sequence[Any], expected: Sequence[Any]) -> None:
    for one, other in zip(found, expected, strict=True):
        largest = np.abs(other).max()
        if not np.abs(one - other).max() <= TOLERANCE * largest:
            raise ValueError(f"{name}: the loss or a gradient is another one.")


def main(arguments: Sequence[str]) -> None:
    """Measures, prints a table, and writes what was found."""
    asked = _parse(arguments)
    use_two_cores()
    where = origin("benchmarks.graphi", arguments)
    rows = [
        measure(KINDS[name], size, asked.batch or KINDS[name].batch, asked.repeats)
        for name in asked.networks
        for size in asked.sizes
    ]
    write({**where, "rows": rows}, asked.json)
    print(table_of(rows))


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    names = list(KINDS)
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graphi")
    parser.add_argument("--networks", nargs="*", choices=names, default=names)
    parser.add_argument("--sizes", nargs="*", default=["small"])
    parser.add_argument("--batch", type=int, help="examples, other than the paper's")
    parser.add_argument("--repeats", type=int, default=15, help="runs of each program")
    parser.add_argument("--json", type=pathlib.Path, help="file to write")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
