"""How fast the workloads are by policy, and on what the time goes (figures 6 and 9)."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import recursive_tf as rtf
from benchmarks.ed_batch.workload import Batch, inference, training
from benchmarks.timing import run_in_turn, seconds_of

STEPS = {"inference": inference, "training": training}


def sentences_per_s(
    models: Mapping[str, Any], batches: Sequence[Batch], size: int, repeats: int
) -> dict[str, dict[str, list[float]]]:
    """Returns for each step and model the runs of all batches, measured in turn."""
    found = {}
    for kind, make in STEPS.items():
        steps = {name: make(model) for name, model in models.items()}
        for step in steps.values():
            for batch in batches:  # Traces, and touches memory first.
                step(*batch)
        runs = {
            name: functools.partial(_sentences_per_s, step, batches, size)
            for name, step in steps.items()
        }
        found[kind] = run_in_turn(runs, repeats, kind)
    return found


def _sentences_per_s(step: Any, batches: Sequence[Batch], size: int) -> float:
    def run() -> None:
        for batch in batches:
            step(*batch)

    return size * len(batches) / seconds_of(run)


def parts_of(model: Any, batch: Batch) -> dict[str, Any]:
    """Returns on what the time of a training step goes, in seconds, and bytes copied.

    All root calls of a step are added up, forward and backward.
    """
    step = training(model)
    step(*batch)
    found = rtf.explain(step)
    explanations = found if isinstance(found, rtf.Explanations) else [found]
    step(*batch)
    seconds: dict[str, float] = {}
    copied = 0
    for explanation in explanations:
        copied += explanation.bytes_moved or 0
        for parts in (explanation.seconds or {}).values():
            for part, time in parts.items():
                seconds[part] = seconds.get(part, 0.0) + time
    return {"seconds": seconds, "bytes_copied": copied}
