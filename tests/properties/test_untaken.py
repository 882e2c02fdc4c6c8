"""What a branch holds that is not taken changes nothing: values, gradients, errors."""

import numpy as np
import pytest
import tensorflow as tf

from tests.properties.untaken import draw_data, draw_program, run

pytestmark = pytest.mark.slow

PROGRAMS_A_PART = 4


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    count = metafunc.config.getoption("programs")
    metafunc.parametrize("part", range(-(-count // PROGRAMS_A_PART)))


def unrolled(seed: int):
    """Returns a program, data, and what it gives; None if that is not finite."""
    text, data = draw_program(seed), draw_data(seed)
    try:
        wanted = run(text, data, None)
    except tf.errors.InvalidArgumentError:  # Something fails that is taken.
        return text, data, None
    is_finite = all(np.isfinite(value).all() for value in wanted.values())
    return text, data, wanted if is_finite else None


def test_what_is_not_taken_neither_fails_nor_spoils_a_gradient(part):
    for seed in range(part * PROGRAMS_A_PART, (part + 1) * PROGRAMS_A_PART):
        text, data, wanted = unrolled(seed)
        if wanted is None:
            continue
        for executor in ("batched", "dataflow"):
            found = run(text, data, executor)
            for name, value in wanted.items():
                message = f"{name} of {text} with {data}, {executor}, seed {seed}"
                np.testing.assert_allclose(
                    found[name], value, 1e-4, 1e-5, err_msg=message
                )
