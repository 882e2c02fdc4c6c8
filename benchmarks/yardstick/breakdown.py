"""Where a step of ours spends its time.

    python -m benchmarks.yardstick.breakdown --model treelstm.npz

Answers requests as a system does (`benchmarks.peers.command`): {"mode": "training",
"batch": 25} gets milliseconds of the parts of a step. RTF_BENCHMARK_GEMM_PEAK has the
operations a second of the machine's products.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import statistics
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import recursive_tf as rtf
from benchmarks.peers.command import WARM_STEPS
from benchmarks.peers.ours import RecursiveTF
from benchmarks.timing import seconds_of
from benchmarks.works import work as works

STEPS = 16
MS = 1e3


def breakdown(
    system: RecursiveTF,
    batches: list[np.ndarray],
    mode: str,
    gemm_peak: float,
    warm_steps: int = WARM_STEPS,
) -> dict[str, float]:
    """Returns milliseconds of a step, by part: medians, whose sum is that of a step.

    - "collate": making the batch.
    - "optimizer": what a step takes longer than one that only computes gradients.
    - "schedule", "gather": following calls and returns; copying rows.
    - "products": operations of the blocks' products over the most that the machine
      reaches, so what they take at least.
    - "element-wise": all else that blocks take: tails, packing, memory.
    - "deferred": gradients of weights, a product each.
    - "call and loss": what is left: Python, TensorFlow's call, the loss.

    Args:
        system: Ours.
        batches: Which trees are in a batch.
        mode: "training" or "inference".
        gemm_peak: Operations a second.
        warm_steps: How many steps run before those that are measured.
    """
    is_training = mode == "training"
    step = system.train_step if is_training else system.infer_step
    made = [system.batch(batches[i % len(batches)]) for i in range(STEPS)]
    ways = [step, *([system.gradient_step] if is_training else [])]
    for batch in itertools.islice(itertools.cycle(made), warm_steps):
        for way in ways:
            float(way(batch))
    explanation = rtf.explain(step)
    found = []
    for trees, batch in zip(itertools.cycle(batches), made, strict=False):
        # In turn, so that what differs is not what the machine did meanwhile.
        whole, *others = (_seconds_until_there(way, batch) for way in ways)
        inside = _of_last_run(explanation, gemm_peak)
        optimizer = {"optimizer": whole - others[0]} if others else {}
        rest = whole - sum(inside.values()) - sum(optimizer.values())
        collate = seconds_of(functools.partial(system.batch, trees))
        parts = {"collate": collate, "call and loss": rest}
        found.append(parts | optimizer | inside)
    explanation.close()
    return {
        part: MS * statistics.median(each[part] for each in found) for part in found[0]
    }


def _seconds_until_there(step: Callable[[Any], Any], batch: Any) -> float:
    return seconds_of(lambda: float(step(batch)))


def _of_last_run(explanation: Any, gemm_peak: float) -> dict[str, float]:
    passes = explanation.seconds.values()
    total = {part: sum(each[part] for each in passes) for part in next(iter(passes))}
    forward, backward = (
        0 if run is None else sum(map(sum, run.flops))
        for run in (explanation.forward, explanation.backward)
    )
    # A half of the backward pass is deferred: the gradients of weights.
    products = min((forward + backward / 2) / gemm_peak, total["blocks"])
    return {
        "schedule": total["schedule"],
        "gather": total["gather"],
        "products": products,
        "element-wise": total["blocks"] - products,
        "deferred": total["deferred"],
    }


def main() -> None:
    """Answers requests about a work."""
    work = works.load(sys.argv[sys.argv.index("--model") + 1])
    system = RecursiveTF(work, "sgd")
    gemm_peak = float(os.environ["RTF_BENCHMARK_GEMM_PEAK"])
    print(json.dumps({"system": "ours"}), flush=True)
    warm_modes: set[str] = set()
    for request in map(json.loads, sys.stdin):
        mode = request["mode"]
        batches = work.batches(request["batch"])
        warm_steps = STEPS if mode in warm_modes else WARM_STEPS
        parts = breakdown(system, batches, mode, gemm_peak, warm_steps)
        warm_modes.add(mode)
        print(json.dumps(parts), flush=True)


if __name__ == "__main__":
    main()
