"""What a run of a random program has to show: all that the oracle computes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping

import numpy as np

from tests.properties.forests import Forest, capture_values
from tests.properties.operations import OPERATIONS, Array, Operation
from tests.properties.oracle import Run, TooLarge, loss_weights
from tests.properties.syntax import Program

MAX_GRADIENT = 1e6
COMPLEX_STEP = 1e-100


@contextlib.contextmanager
def _deep_recursion() -> Iterator[None]:
    """The oracle calls itself several times for each node of a chain."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 50_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def values_of(program: Program, forest: Forest) -> dict[str, Array]:
    """Returns all numbers that a run depends on, by name."""
    return {
        **forest.data(program),
        **capture_values(program),
        **forest.draws(program),
    }


def second_gradients(
    run: Run, values: Mapping[str, Array], run_type: type[Run]
) -> dict[str, Array | None]:
    """Returns the gradients of a weighted sum of all gradients, by name.

    A program without complex numbers, and whose gradients are slopes, is a function of
    complex numbers, too. A step along an imaginary axis, as small as a float may be,
    gives the slope of a gradient with no cancellation.
    """
    moved = dict(values)
    for i, source in enumerate(run.program.sources):
        gradient = run.gradient(source)
        if gradient is not None:
            weights = loss_weights(i, gradient)
            moved[source.name] = values[source.name] + 1j * COMPLEX_STEP * weights
    with _deep_recursion():
        other = run_type(run.program, moved, run.operations)
    other.differentiate()
    found: dict[str, Array | None] = {}
    for source in run.program.sources:
        gradient = other.gradient(source)
        of = f"gradient of gradient of {source.name}"
        found[of] = None if gradient is None else np.imag(gradient) / COMPLEX_STEP
    return found


def expected(
    program: Program,
    forest: Forest,
    operations: Mapping[str, Operation] = OPERATIONS,
    run_type: type[Run] = Run,
    draws: Mapping[str, Array] | None = None,
) -> dict[str, Array | None]:
    """Returns all that a run of the program shows, by name.

    Args:
        program: The program.
        forest: What it runs on.
        operations: What it computes with.
        run_type: How it runs.
        draws: The random numbers of each node, by table; None is any.

    Raises:
        TooLarge: The program runs too long on it, or its gradient is too large.
        Ambiguous: Its results hang on the last digits of a float.
    """
    values = {**values_of(program, forest), **(draws or {})}
    with _deep_recursion():
        run = run_type(program, values, operations)
    run.differentiate()
    found: dict[str, Array | None] = {"counter": np.asarray(run.counter)}
    found |= {f"output {i}": column for i, column in enumerate(run.columns())}
    found |= {f"pushed {name}": table for name, table in run.tables().items()}
    for source in program.sources:
        found[f"gradient of {source.name}"] = run.gradient(source)
    if program.order > 1:
        found |= second_gradients(run, values, run_type)
    if any(np.max(np.abs(x), initial=0) > MAX_GRADIENT for x in _floats_of(found)):
        raise TooLarge
    return found


def _floats_of(found: Mapping[str, Array | None]) -> list[Array]:
    return [x for x in found.values() if x is not None and x.dtype.kind in "fc"]
