"""Random recursive programs compute what the oracle does, values and gradients.

A run of the tests draws 40 programs, and runs each on 25 forests; `--programs=400`
draws more. Each run draws others, and says how to draw them again. What fails is drawn
again, ever smaller, and shown as a script to run. What ends the process leaves its
script in `recursive_tf_random_program_*.py` where temporary files are.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.properties.running import Case, batched_share, cases, check_case

pytestmark = pytest.mark.slow

# Few enough that all processors have work, and that Hypothesis does not yet vary the
# forests of programs that it has drawn before.
PROGRAMS_A_PART = 5

FEWEST_TO_TELL = 20
LEAST_BATCHED = 0.6

SETTINGS = settings(
    # It begins with the simplest program there is.
    max_examples=1 + PROGRAMS_A_PART,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "part" in metafunc.fixturenames:
        count = metafunc.config.getoption("programs")
        metafunc.parametrize("part", range(-(-count // PROGRAMS_A_PART)))


@pytest.mark.may_fall_back("how many do is seen to below")
def test_every_executor_computes_what_the_oracle_does(
    part: int, pytestconfig: pytest.Config
) -> None:
    base = int(pytestconfig.getoption("programs_seed"))

    as_drawn = pytestconfig.getoption("programs_as_drawn")
    phases = [Phase.generate] if as_drawn else SETTINGS.phases

    @seed(base + part)
    @settings(SETTINGS, phases=phases)
    @given(cases())
    def run(case: Case) -> None:
        check_case(case)

    try:
        run()
    except Exception as error:
        error.add_note(f"The same programs again: --programs-seed={base}")
        raise


def test_most_of_them_are_batched() -> None:
    """Else the batched executor would hardly be tested: `auto` falls back silently."""
    share, total = batched_share()
    print(f"{share:.0%} of {total} random programs were batched")  # noqa: T201
    if total < FEWEST_TO_TELL:
        pytest.skip("This process ran too few random programs to tell.")
    # What chance may take off it: two processes run twenty programs each.
    chance = 1.6 * math.sqrt(LEAST_BATCHED * (1 - LEAST_BATCHED) / total)
    assert share >= LEAST_BATCHED - chance
