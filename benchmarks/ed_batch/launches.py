"""How many launches each policy takes (Chen et al. 2023, figure 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import recursive_tf as rtf
from benchmarks.ed_batch.workload import Batch, Workload, inference

POLICIES = ("depth", "agenda", "critical_path")


def policies_of(
    workload: Workload, units: int, batches: Sequence[Batch]
) -> dict[str, Any]:
    """Returns the policies to compare, by name; "fsm" is learned from batches."""
    model = workload.model(units, executor="batched")
    learned = rtf.learn_policy(inference(model), batches, verbose=False)
    return {**{name: name for name in POLICIES}, "fsm": learned}


def models_of(
    workload: Workload, units: int, policies: Mapping[str, Any], batch: Batch
) -> dict[str, Any]:
    """Returns a model for each policy, all with the same weights."""
    models = {
        name: workload.model(
            units, executor="batched", options=rtf.Options(policy=policy)
        )
        for name, policy in policies.items()
    }
    weights = None
    for model in models.values():
        model(*batch)
        weights = weights or model.get_weights()
        model.set_weights(weights)
    return models


def launches_of(model: Any, batches: Sequence[Batch]) -> tuple[int, int]:
    """Returns how many launches runs of all batches take, and the least possible."""
    run = inference(model)
    run(*batches[0])
    found = rtf.explain(run)
    explanations = found if isinstance(found, rtf.Explanations) else [found]
    launches = least = 0
    for batch in batches:
        run(*batch)
        for explanation in explanations:
            launches += sum((explanation.launches or {}).values())
            least += explanation.lower_bound or 0
    return launches, least
