"""What a memory layout could bring: rows that are read in order, and anywhere.

    python -m benchmarks.ed_batch.row_order

ED-Batch (Chen et al. 2023, section 3.2) lays out memory so that what a batch reads
stands in order, and a copy is saved. Here a block reads the results of two calls for
each row. Either all of these stand in the order in which it reads them, as after the
best layout there can be, or in a random one. The difference is the most that any
layout could bring.
"""

from __future__ import annotations

import argparse
import functools
import pathlib
import statistics
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

import recursive_tf as rtf
from benchmarks import origin
from benchmarks.cores import use_two_cores
from benchmarks.timing import run_in_turn, seconds_of
from benchmarks.yardstick.tables import table

SIZES = [(units, rows) for units in (64, 150, 512) for rows in (64, 1024)]
KINDS = ("compiled", "tensorflow")
RUNS_AT_ONCE = 10


class TwoCalls:
    """A block of `rows` rows that reads two results of `units` numbers for each."""

    def __init__(self, units: int, rows: int, blocks: str) -> None:
        rng = np.random.default_rng(0)
        normal = functools.partial(rng.normal, scale=units**-0.5)
        kernel = tf.Variable(normal(size=[2 * units, 5 * units]), dtype=tf.float32)
        vectors = tf.Variable(normal(size=[2 * rows, units]), dtype=tf.float32)
        self.rows = rows
        self.order = tf.Variable(tf.range(2 * rows))
        self.random = tf.constant(rng.permutation(2 * rows), tf.int32)
        options = rtf.Options(blocks=blocks, share_rows=False)
        with rtf.SubGraph("below", memo=lambda i: i) as below:
            i = below.input(tf.int32)
            below.output(tf.tanh(tf.gather(vectors, i)))
        with rtf.SubGraph("above", executor="batched", options=options) as above:
            row = above.input(tf.int32)
            both = [below(self.order[row]), below(self.order[row + rows])]
            above.output(tf.linalg.matvec(kernel, tf.concat(both, 0), transpose_a=True))
        self.run = tf.function(lambda: above.map(tf.range(rows)))

    def microseconds(self, *, in_order: bool) -> float:
        """Returns the time of a run."""
        self.order.assign(tf.range(2 * self.rows) if in_order else self.random)
        self.run()
        seconds = seconds_of(lambda: [self.run() for _ in range(RUNS_AT_ONCE)])
        return 1e6 * seconds / RUNS_AT_ONCE


def measure(repeats: int) -> list[dict[str, Any]]:
    """Returns the runs of each size and kind of block."""
    found = []
    for units, rows in SIZES:
        for kind in KINDS:
            case = TwoCalls(units, rows, kind)
            runs = {
                "in order": functools.partial(case.microseconds, in_order=True),
                "anywhere": functools.partial(case.microseconds, in_order=False),
            }
            times = run_in_turn(runs, repeats, f"{units} units, {rows} rows")
            found.append({"units": units, "rows": rows, "blocks": kind, "us": times})
    return found


def row_order(found: Mapping[str, Any]) -> str:
    """Returns the table, and where it was measured."""
    lines = []
    for row in found["rows"]:
        in_order, anywhere = map(statistics.median, row["us"].values())
        lines.append(
            [
                str(row["units"]),
                str(row["rows"]),
                row["blocks"],
                f"{in_order:.0f}",
                f"{anywhere:.0f}",
                f"{anywhere / in_order:.2f}",
            ]
        )
    header = ["units", "rows", "blocks", "in order, us", "anywhere, us", "ratio"]
    return f"{origin.in_words(found)}\n\n{table(header, lines)}"


BLOCKS = {"row_order": row_order}


def main(arguments: Sequence[str]) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ed_batch.row_order")
    parser.add_argument("--repeats", type=int, default=21, help="runs of each figure")
    parser.add_argument("--json", type=pathlib.Path, help="file to write")
    asked = parser.parse_args(arguments)
    use_two_cores()
    where = origin.origin("benchmarks.ed_batch.row_order", arguments)
    found = {**where, "rows": measure(asked.repeats)}
    print(row_order(found))
    origin.write(found, asked.json)


if __name__ == "__main__":
    main(sys.argv[1:])
