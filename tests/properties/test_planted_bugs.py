"""A wrong result is found, and shown by a small script that fails where it is run.

The bugs are planted in the oracle, so that the library's results are wrong by it.
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, find, settings

from tests.properties.checking import check
from tests.properties.expectation import expected
from tests.properties.operations import OPERATIONS
from tests.properties.oracle import Run
from tests.properties.running import Case, Oracle, cases, check_case, settled
from tests.properties.source import program_source, script
from tests.properties.tolerances import tolerances

pytestmark = [pytest.mark.slow, pytest.mark.may_fall_back("whatever is drawn")]

LOOKING = settings(
    max_examples=300,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def with_derivative(operation: str, derivative: Callable[..., Any]) -> Oracle:
    changed = dataclasses.replace(OPERATIONS[operation], derivative=derivative)
    return functools.partial(expected, operations={**OPERATIONS, operation: changed})


class ForgetsPushes(Run):
    """Its gradient does not come back from what is pushed."""

    def _weighted(self) -> Any:
        pushed = [id(x) for rows in self.rows.values() for x in rows.values()]
        returned = [id(x) for row in self.outputs for x in row]
        for value, weight in super()._weighted():
            if id(value) in returned or id(value) not in pushed:
                yield value, weight


WRONG_TANH = with_derivative("tanh", lambda g, y, x: [g])
WRONG_WEIGHT = with_derivative("matvec", lambda g, y, w, x: [np.outer(x, g), w.T @ g])
WRONG_PUSH = functools.partial(expected, run_type=ForgetsPushes)


def differs(case: Case, oracle: Oracle) -> bool:
    """Says whether the planted bug shows: here no library is needed."""
    (forest,) = case.forests
    right, wrong = (settled(case.program, forest, o) for o in (expected, oracle))
    if right is None or wrong is None or right[0] != wrong[0]:
        return False
    # Most bugs show in few programs, and tolerances take longest.
    if all(np.array_equal(wrong[1][name], right[1][name]) for name in right[1]):
        return False
    # By far, so that it shows in the library's results, too.
    allowed = tolerances(case.program, wrong[0])
    try:
        check(
            {**right[1]}, {**wrong[1]}, {k: 10 * v + 1e-6 for k, v in allowed.items()}
        )
    except AssertionError:
        return True
    return False


ANY = settings(LOOKING, phases=[Phase.generate])


def smallest(oracle: Oracle, how: settings = LOOKING) -> Case:
    """Returns a small program, with a forest, on which a planted bug shows."""
    return find(
        cases(num_forests=1),
        lambda case: differs(case, oracle),
        settings=how,
        random=random.Random(0),
    )


def num_lines_of_body(text: str) -> int:
    """Returns the lines of the SubGraphs of a program."""
    define = text[text.index("def define(") : text.index("def loss_of(")]
    return len(define.strip().splitlines())


@pytest.mark.large
def test_a_planted_bug_is_found_and_made_small() -> None:
    case = smallest(WRONG_PUSH)
    text = program_source(case.program)
    assert num_lines_of_body(text) <= 40, text
    assert len(case.forests[0].counts) <= 4, text


def test_a_wrong_gradient_of_a_weight_is_found() -> None:
    """Making it small would take longer."""
    assert smallest(WRONG_WEIGHT, ANY)


@pytest.mark.large
def test_the_script_of_a_failure_fails_where_it_is_run(tmp_path: pathlib.Path) -> None:
    case = smallest(WRONG_TANH, ANY)
    with pytest.raises(AssertionError) as failure:
        check_case(case, WRONG_TANH)
    _, text = str(failure.value).split("This script shows it:\n\n")
    path = tmp_path / "failure.py"
    path.write_text(text)
    run = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert "AssertionError" in run.stderr
    assert "gradient of" in run.stderr
    # What it shows is what the test saw.
    seen = [line for line in str(failure.value).splitlines() if "DESIRED" in line]
    assert seen
    assert all(line in run.stderr for line in seen)


def test_the_script_of_a_right_result_ends_well(tmp_path: pathlib.Path) -> None:
    case = find(cases(num_forests=1), lambda _: True, settings=ANY)
    (forest,) = case.forests
    path = tmp_path / "right.py"
    data, wanted = forest.data(case.program), expected(case.program, forest)
    tolerance = tolerances(case.program, forest)
    text = script(program_source(case.program), data, wanted, tolerance)
    path.write_text(text)
    subprocess.run([sys.executable, str(path)], check=True)
