"""ED-Batch's workloads along sequences, beside what an expert would write by hand.

    python -m benchmarks.ed_batch.peers                # on generated data
    python -m benchmarks.ed_batch.peers --data=DATA    # a folder with wikiner/

Every system has a process of its own, and is measured in turn with the others, as the
yardstick's are. Before that, loss and gradients have to agree with ours to five digits.
Environments of peers: python -m benchmarks.peers.environments torch dynet.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import pathlib
import sys
from collections.abc import Sequence

from benchmarks.cores import use_two_cores
from benchmarks.ed_batch import sentences
from benchmarks.ed_batch.peers import page
from benchmarks.ed_batch.peers.systems import SYSTEMS
from benchmarks.origin import origin
from benchmarks.peers.command import NO_OPTIMIZER
from benchmarks.workers import ended_in_order
from benchmarks.works import bilstm_char_tagger, bilstm_tagger, lstm_nmt
from benchmarks.works.work import Work
from benchmarks.yardstick import session
from benchmarks.yardstick.session import Plan
from benchmarks.yardstick.systems import OURS

MODULES = {
    module.RECURSION.name: module
    for module in (bilstm_tagger, bilstm_char_tagger, lstm_nmt)
}
SENTENCES = 1024


def make(name: str, data: str | None, units: int, count: int | None = None) -> Work:
    """Returns a work.

    Args:
        name: Of one of `MODULES`.
        data: A folder with wikiner/train.txt; without it, sentences are generated.
        units: Of every cell.
        count: How many sentences it has; `SENTENCES` if there is none.
    """
    module = MODULES[name]
    folder = pathlib.Path(data) if data else None
    texts = sentences.read(folder, count or SENTENCES)
    return Work(module.RECURSION, texts, module.weights(units))


def main(arguments: Sequence[str]) -> None:
    """Measures, prints the table, and writes what was found."""
    asked = _parse(arguments)
    use_two_cores()
    batches = [int(size) for size in asked.batches.split(",")]
    plan = Plan(
        asked.works, [NO_OPTIMIZER], batches, asked.rounds, asked.seconds, asked.data
    )
    systems = [SYSTEMS[name] for name in (OURS, *asked.peers)]
    where = origin("benchmarks.ed_batch.peers", arguments)
    with ended_in_order():
        made = functools.partial(make, units=asked.units)
        measured = dataclasses.asdict(session.run(plan, systems, make=made))
    found = {**where, "units": asked.units, **measured}
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for block in page.BLOCKS.values():
        print(block(found), end="\n\n")


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    peers = [name for name in SYSTEMS if name != OURS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ed_batch.peers")
    parser.add_argument("--data", help="folder of real data")
    parser.add_argument("--works", nargs="*", choices=MODULES, default=[*MODULES])
    parser.add_argument("--peers", nargs="*", choices=peers, default=peers)
    parser.add_argument("--batches", default="1,32,256", help="batch sizes")
    parser.add_argument("--units", type=int, default=64, help="of every cell")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each system")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a run, at least")
    parser.add_argument("--json", type=pathlib.Path, help="file to write")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
