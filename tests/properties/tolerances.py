"""How far each number of a result may be from what was expected.

The oracle runs again, and rounds what every operation gives, forward and back, and each
sum of cotangents, as the dtype of it would; each time in another direction. How far a
number then moves is how much rounding there is in it: so each has a tolerance of its
own, which knows of the dtypes that it comes from, and of what was added up and
cancelled in it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tests.properties.expectation import expected
from tests.properties.forests import Forest
from tests.properties.operations import OPERATIONS, Ambiguous, Array, Operation
from tests.properties.oracle import Run, Value
from tests.properties.syntax import COARSE, COMPLEX_OF, Program, Type

_EPSILON = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
}
_EPSILON |= {name: _EPSILON[of] for of, name in COMPLEX_OF.items()}


@dataclasses.dataclass(frozen=True)
class Margins:
    """What a number may be off by: kernels round more often, and add in another order.

    Attributes:
        num_runs: How often the oracle rounds in another direction.
        of_moves: In units of how far it then moves.
        of_value: In units of what its dtype can tell apart at its size.
        of_largest: The same at the size of the largest beside it.
    """

    num_runs: int
    of_moves: float
    of_value: float
    of_largest: float


_FINE = Margins(num_runs=3, of_moves=200.0, of_value=200.0, of_largest=20.0)
# Few digits leave little room between what is rounded and what is wrong: so it is
# measured more often.
_COARSE = Margins(num_runs=8, of_moves=12.0, of_value=6.0, of_largest=1.0)


# A fine result that may be off by more, in units of the largest beside it, is chaotic.
VAGUE = 0.01


class TooVague(Ambiguous):
    """Rounding may move a result so far that it shows nothing."""


def tolerances(
    program: Program,
    forest: Forest,
    wanted: Mapping[str, Array | None] | None = None,
    draws: Mapping[str, Array] | None = None,
) -> dict[str, Array]:
    """Returns a tolerance for each number of a result, by name.

    Args:
        program: The program.
        forest: What it runs on.
        wanted: What to expect, if it is known.
        draws: The random numbers; None is any.

    Raises:
        Ambiguous: Its results hang on the last digits of a float.
        TooLarge: It runs too long where floats are rounded.
    """
    wanted = expected(program, forest, draws=draws) if wanted is None else wanted
    epsilon = max(_EPSILON[name] for name in program.dtypes if name in _EPSILON)
    margins = _COARSE if program.dtypes.intersection(COARSE) else _FINE
    runs = [
        _rounded_run(program, forest, draws, epsilon, seed)
        for seed in range(margins.num_runs)
    ]
    found = {}
    for name, value in wanted.items():
        if value is None or value.dtype.kind not in "fc":
            _check_same(value, [run[name] for run in runs])
            continue
        moved = [np.abs(np.asarray(run[name]) - value) for run in runs]
        size = np.abs(value)
        largest = 1.0 + np.max(size, initial=0.0)
        found[name] = margins.of_moves * np.max(moved, axis=0) + epsilon * (
            margins.of_value * size + margins.of_largest * largest
        )
        if margins is _FINE and np.any(found[name] > VAGUE * largest):
            raise TooVague
    return found


def _check_same(value: Array | None, others: list[Array | None]) -> None:
    if value is not None and any(np.any(value != other) for other in others):
        raise Ambiguous


def _rounded_run(
    program: Program,
    forest: Forest,
    draws: Mapping[str, Array] | None,
    epsilon: float,
    seed: int,
) -> dict[str, Array | None]:
    rng = np.random.default_rng(seed)
    return expected(
        program,
        forest,
        operations={name: _rounded(o, rng) for name, o in OPERATIONS.items()},
        run_type=functools.partial(_RoundedRun, noise=_Noise(rng, epsilon)),
        draws=draws,
    )


@dataclasses.dataclass(frozen=True)
class _Noise:
    rng: np.random.Generator
    epsilon: float

    def on(self, x: Any) -> Any:
        if x is None or np.asarray(x).dtype.kind not in "fc":
            return x
        return x * (1 + self.epsilon * self.rng.uniform(-1, 1, np.shape(x)))


class _RoundedRun(Run):
    """Rounds what the loss hands down, and what several uses of a value add up to."""

    def __init__(self, *args: Any, noise: _Noise) -> None:
        self.noise = noise
        super().__init__(*args)

    def _weighted(self) -> Iterator[tuple[Value, Array]]:
        for value, weight in super()._weighted():
            yield value, self.noise.on(weight)

    def add(self, value: Value, cotangent: Any) -> None:
        had = value.cotangent
        super().add(value, cotangent)
        if had is not None:
            value.cotangent = self.noise.on(value.cotangent)


def _rounded(operation: Operation, rng: np.random.Generator) -> Operation:
    """Returns an operation that is as inexact as its dtype."""
    noise = [_Noise(rng, _EPSILON["float64"])]

    def value(kind: Type, *args: Array) -> Array:
        epsilon = max(noise[0].epsilon, _EPSILON.get(kind.dtype, 0.0))
        noise[0] = _Noise(rng, epsilon)
        return np.asarray(noise[0].on(operation.value(kind, *args)))

    derivative: Callable[..., list[Any]] | None = operation.derivative
    if derivative is not None:
        exact = derivative

        def derivative(*args: Array) -> list[Any]:
            return [noise[0].on(x) for x in exact(*args)]

    return dataclasses.replace(operation, value=value, derivative=derivative)
