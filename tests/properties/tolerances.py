"""How far each number of a result may be from what was expected.

The oracle runs again, and rounds what every operation gives, forward and back, as the
operation's own dtype would; each time in another direction. How far a number then moves
is how much rounding there is in it: so each has a tolerance of its own, which knows of
the dtypes that it comes from, and of what was added up and cancelled in it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.properties.forests import Forest
from tests.properties.operations import OPERATIONS, Array, Operation
from tests.properties.oracle import expected
from tests.properties.syntax import Program, Type

_EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52}
_RUNS = 3
# Kernels round more than once an operation, and add in another order.
_OF_MOVES, _OF_VALUE, _OF_LARGEST = 200.0, 200.0, 20.0


def tolerances(program: Program, forest: Forest) -> dict[str, Array]:
    """Returns a tolerance for each number of a result, by name."""
    runs = [
        expected(program, forest, operations=_rounding(np.random.default_rng(i)))
        for i in range(_RUNS)
    ]
    mixed = max(_EPSILON[program.dtype], *map(_EPSILON.get, _dtypes_of(program)))
    found = {}
    for name, value in expected(program, forest).items():
        if value is None or np.asarray(value).dtype.kind != "f":
            continue
        moved = [np.abs(np.asarray(run[name]) - value) for run in runs]
        size = np.abs(value)
        largest = 1.0 + np.max(size, initial=0.0)
        found[name] = _OF_MOVES * np.max(moved, axis=0) + mixed * (
            _OF_VALUE * size + _OF_LARGEST * largest
        )
    return found


def _dtypes_of(program: Program) -> set[str]:
    return {v.type.dtype for v in program.mentioned if v.type.dtype in _EPSILON}


def _rounding(rng: np.random.Generator) -> dict[str, Operation]:
    return {name: _rounded(o, rng) for name, o in OPERATIONS.items()}


def _rounded(operation: Operation, rng: np.random.Generator) -> Operation:
    """Returns an operation that is as inexact as its dtype."""

    def noisy(x: Any, epsilon: float) -> Any:
        if x is None or np.asarray(x).dtype.kind != "f":
            return x
        return x * (1 + epsilon * rng.uniform(-1, 1, np.shape(x)))

    epsilon = [_EPSILON["float64"]]

    def value(kind: Type, *args: Array) -> Array:
        epsilon[0] = max(epsilon[0], _EPSILON.get(kind.dtype, 0.0))
        return np.asarray(noisy(operation.value(kind, *args), epsilon[0]))

    derivative: Callable[..., list[Any]] | None = operation.derivative
    if derivative is not None:
        exact = derivative

        def derivative(*args: Array) -> list[Any]:
            return [noisy(x, epsilon[0]) for x in exact(*args)]

    return dataclasses.replace(operation, value=value, derivative=derivative)
