"""Launches and speeds of ED-Batch's workloads, by policy.

    python -m benchmarks.ed_batch                   # on generated data
    python -m benchmarks.ed_batch --data=DATA       # a folder with sst/ and lattice/

The policy "fsm" is learned from two batches; all figures are of other ones.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import time
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

from benchmarks.cores import use_two_cores
from benchmarks.ed_batch import launches, page, times
from benchmarks.ed_batch.workload import Workload
from benchmarks.ed_batch.workloads import WORKLOADS
from benchmarks.origin import origin

# From which the policy is learned.
LEARNED_FROM = 2


def row_of(workload: Workload, asked: argparse.Namespace) -> dict[str, Any]:
    """Returns what is found of a workload."""
    batches = workload.batches(asked.data, asked.batch, LEARNED_FROM + asked.batches)
    learned_from, others = batches[:LEARNED_FROM], batches[LEARNED_FROM:]
    start = time.perf_counter()
    policies = launches.policies_of(workload, asked.units, learned_from)
    seconds = time.perf_counter() - start
    models = launches.models_of(workload, asked.units, policies, batches[0])
    counts = {name: launches.launches_of(m, others) for name, m in models.items()}
    return {
        "workload": workload.name,
        "seconds_to_learn": seconds,
        "launches": {name: count for name, (count, _) in counts.items()},
        "least": next(iter(counts.values()))[1],
        "sentences_per_s": times.sentences_per_s(
            models, others, asked.batch, asked.repeats
        ),
        "training_step": times.parts_of(models["critical_path"], others[0]),
    }


def main(arguments: Sequence[str]) -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ed_batch")
    parser.add_argument("--data", type=pathlib.Path, help="folder of real data")
    parser.add_argument("--batch", type=int, default=32, help="sentences in a batch")
    parser.add_argument("--batches", type=int, default=4, help="that are measured")
    parser.add_argument("--units", type=int, default=64, help="of every cell")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each figure")
    parser.add_argument("--only", nargs="*", help="names of workloads")
    parser.add_argument("--json", type=pathlib.Path, help="file to write")
    asked = parser.parse_args(arguments)
    use_two_cores()
    chosen = [w for w in WORKLOADS if not asked.only or w.name in asked.only]
    rows = [row_of(workload, asked) for workload in tqdm(chosen, desc="workloads")]
    found = {
        **origin("benchmarks.ed_batch", arguments),
        "batch": asked.batch,
        "batches": asked.batches,
        "units": asked.units,
        "rows": rows,
    }
    for block in page.BLOCKS.values():
        print(block(found), end="\n\n")
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
