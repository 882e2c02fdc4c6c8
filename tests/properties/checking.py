"""What is shown against what was expected."""

from __future__ import annotations

from typing import Any

import numpy as np


def tolerance_of(text: str) -> float:
    """Returns the error that rounding may make, of the largest number in a result.

    Args:
        text: A program, with the dtypes that it uses.
    """
    return 2e-4 if "tf.float32" in text else 1e-9


def check(found: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    """Raises unless all results are as expected.

    A gradient that is expected to be None must be; one that is zero may be.
    """
    for name, value in expected.items():
        got = found[name]
        if value is None:
            assert got is None, f"{name}: found {got}, expected None"
            continue
        if got is None:
            got = np.zeros(np.shape(value))
        scale = 1.0 + np.max(np.abs(value), initial=0.0)
        np.testing.assert_allclose(
            np.asarray(got, np.float64),
            np.asarray(value, np.float64),
            rtol=0,
            atol=tolerance * scale,
            err_msg=name,
        )
