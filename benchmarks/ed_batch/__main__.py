"""Launches and speeds of ED-Batch's workloads, by policy.

    python -m benchmarks.ed_batch                   # on generated data
    python -m benchmarks.ed_batch --data=DATA       # a folder with sst/ and lattice/

The policy "fsm" is learned from two batches; all figures are of other ones.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

from benchmarks.cores import use_two_cores
from benchmarks.ed_batch import launches, page, times
from benchmarks.ed_batch.arguments import chosen, parser_of
from benchmarks.ed_batch.workload import Workload
from benchmarks.origin import origin, write

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
    parser = parser_of("benchmarks.ed_batch", repeats=5)
    parser.add_argument("--batches", type=int, default=4, help="that are measured")
    asked = parser.parse_args(arguments)
    use_two_cores()
    rows = [row_of(each, asked) for each in tqdm(chosen(asked), desc="workloads")]
    found = {
        **origin("benchmarks.ed_batch", arguments),
        "batch": asked.batch,
        "batches": asked.batches,
        "units": asked.units,
        "rows": rows,
    }
    for block in page.BLOCKS.values():
        print(block(found), end="\n\n")
    write(found, asked.json)


if __name__ == "__main__":
    main(sys.argv[1:])
