"""How fast both forms of a program are, and how many launches they take."""

from __future__ import annotations

import functools
import pathlib
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.cavs.program import Batch, Form, Program, inference, training
from benchmarks.timing import run_in_turn


class Effort(NamedTuple):
    """How much is measured.

    Attributes:
        data: A folder of real data, or None.
        batches: That a form runs, one after the other.
        repeats: Runs of each figure.
        seconds: That a run takes at least.
    """

    data: pathlib.Path | None
    batches: int
    repeats: int
    seconds: float


def row_of(program: Program, units: int, size: int, effort: Effort) -> dict[str, Any]:
    """Returns what is found of a program with so many units and samples in a batch.

    Raises:
        AssertionError: If its forms compute something else.
    """
    weights = program.weights(units)
    forms = program.forms(weights)
    batches = program.batches(effort.data, size, effort.batches)
    return {
        "program": program.name,
        "units": units,
        "batch": size,
        "samples_per_s": speeds_of_steps(
            forms,
            weights.trainable_variables,
            batches,
            size,
            effort,
            program.name,
        ),
        "launches": {name: launches_of(f, batches[0]) for name, f in forms.items()},
    }


def speeds_of_steps(
    forms: Mapping[str, Form],
    variables: Sequence[tf.Variable],
    batches: Sequence[Batch],
    size: int,
    effort: Effort,
    label: str,
) -> dict[str, dict[str, list[float]]]:
    """Returns the samples/s of each form, in training and in inference.

    Raises:
        AssertionError: If a form computes something else than the first one.
    """
    found = {}
    for kind in ("training", "inference"):
        steps = {
            name: training(form, variables) if kind == "training" else inference(form)
            for name, form in forms.items()
        }
        first, *others = steps.values()
        for other in others:
            check_same({"first": first, "other": other}, batches[0])
        found[kind] = speeds(steps, batches, size, effort, f"{label}, {kind}")
    return found


def check_same(steps: Mapping[str, Any], batch: Batch) -> None:
    """Compares losses and gradients of two forms.

    Raises:
        AssertionError: If they differ.
    """
    one, other = (
        [tf.convert_to_tensor(each) for each in tf.nest.flatten(step(*batch))]
        for step in steps.values()
    )
    for found, expected in zip(one, other, strict=True):
        scale = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * scale)


def launches_of(form: Form, batch: Batch) -> int:
    """Returns how many launches a forward pass of a batch takes."""
    step = inference(form)
    step(*batch)
    explanation = rtf.explain(step)
    step(*batch)
    return sum((explanation.launches or {}).values())


def speeds(
    steps: Mapping[str, Any],
    batches: Sequence[Batch],
    size: int,
    effort: Effort,
    label: str,
) -> dict[str, list[float]]:
    """Returns the samples/s of runs of each form, measured in turn."""
    for step in steps.values():
        for batch in batches:  # Traces, and touches memory first.
            step(*batch)
    runs = {
        name: functools.partial(_samples_per_s, step, batches, size, effort.seconds)
        for name, step in steps.items()
    }
    return run_in_turn(runs, effort.repeats, label)


def _samples_per_s(
    step: Any, batches: Sequence[Batch], size: int, seconds: float
) -> float:
    start = time.perf_counter()
    passes = 0
    while not passes or time.perf_counter() - start < seconds:
        for batch in batches:
            step(*batch)
        passes += 1
    return passes * len(batches) * size / (time.perf_counter() - start)
