"""ED-Batch's workloads beside programs by hand, and beside DyNet.

    python -m benchmarks.ed_batch.peers                # on generated data
    python -m benchmarks.ed_batch.peers --data=DATA    # wikiner/, sst/, lattice/

Every system has a process of its own, and is measured in turn with the others, as the
yardstick's are. Before that, loss and gradients have to agree with ours to five digits.
Environments of peers: python -m benchmarks.peers.environments torch dynet.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import pathlib
import sys
from collections.abc import Sequence

from benchmarks.cores import use_two_cores
from benchmarks.ed_batch.peers import making, page
from benchmarks.ed_batch.peers.systems import SYSTEMS, systems_of
from benchmarks.origin import origin, write
from benchmarks.peers.command import NO_OPTIMIZER
from benchmarks.workers import ended_in_order
from benchmarks.yardstick import session
from benchmarks.yardstick.session import Plan, Session
from benchmarks.yardstick.systems import OURS


def measure(asked: argparse.Namespace) -> Session:
    """Returns what is found, work by work, of the systems that have it."""
    batches = [int(size) for size in asked.batches.split(",")]
    make = functools.partial(making.make, units=asked.units)
    found = Session()
    for name in asked.works:
        plan = Plan(
            [name], [NO_OPTIMIZER], batches, asked.rounds, asked.seconds, asked.data
        )
        inputs = making.WORKS[name].RECURSION.inputs
        systems = systems_of(inputs, (OURS, *asked.peers))
        of_work = session.run(plan, systems, make=make)
        found.rows += of_work.rows
        found.systems |= of_work.systems
        found.left_out |= of_work.left_out
    return found


def main(arguments: Sequence[str]) -> None:
    """Measures, prints the table, and writes what was found."""
    asked = _parse(arguments)
    use_two_cores()
    where = origin("benchmarks.ed_batch.peers", arguments)
    with ended_in_order():
        measured = dataclasses.asdict(measure(asked))
    found = {**where, "units": asked.units, "rounds": asked.rounds, **measured}
    write(found, asked.json)
    for block in page.BLOCKS.values():
        print(block(found), end="\n\n")


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    peers = [name for name in SYSTEMS if name != OURS]
    works = list(making.WORKS)
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ed_batch.peers")
    parser.add_argument("--data", help="folder of real data")
    parser.add_argument("--works", nargs="*", choices=works, default=works)
    parser.add_argument("--peers", nargs="*", choices=peers, default=peers)
    parser.add_argument("--batches", default="1,32,256", help="batch sizes")
    parser.add_argument("--units", type=int, default=64, help="of every cell")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each system")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a run, at least")
    parser.add_argument("--json", type=pathlib.Path, help="file to write")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
