"""The oracle's gradients are slopes, measured by moving what they are of."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, Phase, assume, given, seed, settings

from tests.properties.expectation import values_of
from tests.properties.operations import OPERATIONS, Array, _of
from tests.properties.oracle import Run
from tests.properties.running import Case, cases, settled
from tests.properties.syntax import Program

STEP = 1e-6

# What a gradient ignores, a slope does not.
SMOOTH = {
    **OPERATIONS,
    "stop_gradient": _of("", lambda x: x, lambda g, y, x: [g]),
    "slanted": _of("", lambda x: x, lambda g, y, x: [g]),
}


def loss(program: Program, values: dict[str, Array]) -> float:
    return Run(program, values, SMOOTH).loss()


@seed(0)
@settings(
    max_examples=40,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(cases(num_forests=1))
def test_a_gradient_is_a_slope(case: Case) -> None:
    program = case.program
    run = settled(program, case.forests[0])
    assume(run is not None)
    assert run is not None
    values = values_of(program, run[0])
    oracle = Run(program, values, SMOOTH)
    oracle.differentiate()
    rng = np.random.default_rng(0)
    for source in program.sources:
        gradient = oracle.gradient(source)
        direction = rng.uniform(-1, 1, values[source.name].shape)
        if source.type.is_complex:
            direction = direction * (1 - 0.5j)
        low, high = (
            loss(program, {**values, source.name: values[source.name] + h * direction})
            for h in (-STEP, STEP)
        )
        # A cotangent of a complex number is that of its real part, and i times that of
        # the other.
        along = None if gradient is None else (np.conj(gradient) * direction).real
        slope = 0.0 if along is None else np.sum(along)
        np.testing.assert_allclose(
            slope, (high - low) / (2 * STEP), rtol=1e-5, atol=1e-6, err_msg=source.name
        )
