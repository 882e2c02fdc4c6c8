"""Random recursive programs compute what the oracle does, values and gradients.

A run of the tests draws 16 programs, and runs each on 25 forests; `--programs=400`
draws more. Each run draws others, and says how to draw them again. What fails is drawn
again, ever smaller, and shown as a script to run. What ends the process leaves its
script in `recursive_tf_random_program_*.py` where temporary files are.
"""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from recursive_tf.python.root_calls import root_op
from tests.helpers import batched_share
from tests.properties.choices import chosen
from tests.properties.features import is_never_batched
from tests.properties.running import Case, cases, check_case
from tests.properties.source import program_source

pytestmark = pytest.mark.slow

# Few enough that all processors have work, that a short run has a part for each choice
# of how programs run, and that Hypothesis does not yet vary the forests of programs
# that it has drawn before.
PROGRAMS_A_PART = 2

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


def digest(case: Case) -> str:
    """Returns a name for the text of a program."""
    text = program_source(case.program)
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.may_fall_back("which may, and how many do, is seen to")
def test_every_executor_computes_what_the_oracle_does(
    part: int, pytestconfig: pytest.Config, record_property: Any
) -> None:
    base = int(pytestconfig.getoption("programs_seed"))
    is_batched: dict[str, bool] = {}

    as_drawn = pytestconfig.getoption("programs_as_drawn")
    phases = [Phase.generate] if as_drawn else SETTINGS.phases

    @seed(base + part)
    @settings(SETTINGS, phases=phases)
    @given(cases())
    def run(case: Case) -> None:
        made = check_case(case, executors=chosen(part))["batched"]
        if made:
            was_batched = root_op.DATAFLOW not in made
            is_batched[digest(case)] = was_batched
            assert was_batched or is_never_batched(case.program), (
                "It is not batched, though nothing in it is refused:\n\n"
                + program_source(case.program, "batched")
            )

    try:
        run()
    except Exception as error:
        error.add_note(f"The same programs again: --programs-seed={base}")
        raise
    batched_share.note(record_property, is_batched)
