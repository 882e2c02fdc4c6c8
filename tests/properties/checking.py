"""What is shown against what was expected."""

from __future__ import annotations

from typing import Any

import numpy as np


def check(
    found: dict[str, Any], expected: dict[str, Any], tolerance: dict[str, Any]
) -> None:
    """Raises unless all results are as expected.

    A gradient that is expected to be None must be; one that is zero may be.

    Args:
        found: By name.
        expected: The same.
        tolerance: For each number, by name; what is not there is exact.
    """
    for name, value in expected.items():
        got = found[name]
        if value is None:
            assert got is None, f"{name}: found {got}, expected None"
            continue
        if got is None:
            got = np.zeros(np.shape(value))
        is_complex = np.iscomplexobj(got) or np.iscomplexobj(value)
        exact = np.complex128 if is_complex else np.float64
        got, value = np.asarray(got).astype(exact), np.asarray(value, exact)
        assert got.shape == value.shape, f"{name}: {got.shape}, not {value.shape}"
        # Each number in units of what it may be off by, which then is 1.
        unit = np.maximum(tolerance.get(name, 0.0), 1e-300)
        wrong = ~(np.abs(got - value) <= unit)
        np.testing.assert_array_equal(np.where(wrong, got, value), value, err_msg=name)
