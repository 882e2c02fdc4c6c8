"""Random programs and forests have in them what they are said to have."""

from __future__ import annotations

import collections
import functools

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.helpers import batched_share
from tests.properties.features import ALL_FEATURES, features_of
from tests.properties.forests import MAX_NODES, large_forests
from tests.properties.operations import OPERATIONS
from tests.properties.programs import programs
from tests.properties.running import Case, cases, settled
from tests.properties.source import program_source
from tests.properties.syntax import Program

pytestmark = pytest.mark.slow

# Of one seed, few: then Hypothesis does not yet vary those that it has drawn before.
DRAWING = settings(
    max_examples=3,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@functools.cache
def drawn() -> list[Program]:
    """Returns two hundred programs."""
    return [program for number in range(100) for program in drawn_with(number)]


def drawn_with(number: int) -> list[Program]:
    """Returns two programs; the first that is drawn is the simplest there is."""
    found: list[Program] = []

    @seed(number)
    @DRAWING
    @given(programs())
    def draw(program: Program) -> None:
        found.append(program)

    draw()
    return found[1:]


@functools.cache
def shares() -> collections.Counter[str]:
    """Returns how many of the drawn programs have a feature."""
    return collections.Counter(f for program in drawn() for f in features_of(program))


CHOICES = {
    *(f"dtype: {dtype}" for dtype in ("float32", "float64", "int32", "int64", "bool")),
    *(f"form: {form}" for form in ("inside", "outside", "eager")),
    *(f"arity: {arity}" for arity in (1, 2, 3)),
    *(f"rank: {rank}" for rank in range(3)),
    *(f"kind: {kind}" for kind in ("tree", "fuel", "plain")),
}


def test_every_feature_is_drawn() -> None:
    found = shares()
    assert not {name: found[name] for name in ALL_FEATURES if found[name] < 2}


def test_every_operation_is_drawn() -> None:
    found = shares()
    assert not [name for name in OPERATIONS if not found[f"operation: {name}"]]


def test_every_choice_is_drawn_often() -> None:
    found = shares()
    assert not {name: found[name] for name in CHOICES if found[name] < 10}


def test_most_programs_have_nothing_that_is_never_batched() -> None:
    """Each of these is batched, as `test_random_programs.py` sees to."""
    share = 1 - shares()["what is never batched"] / len(drawn())
    assert share >= batched_share.LEAST_BATCHED + 0.1


def test_every_text_is_python() -> None:
    for program in drawn():
        compile(program_source(program), "<random program>", "exec")


def test_forests_are_of_all_kinds_and_programs_run_on_them() -> None:
    found = set()

    @settings(DRAWING, max_examples=3)
    @given(cases())
    def look(case: Case) -> None:
        for forest in case.forests:
            run = settled(case.program, forest)
            if run is None:
                continue
            size = len(run[0].counts)
            found.update(
                name
                for name, holds in {
                    "no tree": not forest.trees,
                    "a leaf": size == 1,
                    "several trees": len(forest.trees) > 1,
                    "a chain": size > 4 and max(run[0].counts) == 1,
                    "branching": max(run[0].counts, default=0) > 1,
                    "the most nodes": size > MAX_NODES,
                }.items()
                if holds
            )

    for number in range(4):
        if len(found) < 6:
            seed(number)(look)()
    assert len(found) == 6, found


def test_some_programs_run_on_hundreds_of_rows_and_some_on_deep_chains() -> None:
    found = set()

    @settings(DRAWING, max_examples=2)
    @given(st.data())
    def look(data: st.DataObject) -> None:
        program = data.draw(programs())
        run = settled(program, data.draw(large_forests(program)))
        if run is not None and len(run[0].counts) > 256:
            found.add("many trees" if len(run[0].trees) > 256 else "one tree")

    for number in range(24):
        if len(found) < 2:
            seed(number)(look)()
    assert len(found) == 2, found
