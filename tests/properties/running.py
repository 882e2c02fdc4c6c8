"""Runs random programs, and shows the whole of what fails."""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import functools
import os
import pathlib
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st

from recursive_tf.python.root_calls import root_op
from tests.properties.checking import check
from tests.properties.choices import chosen
from tests.properties.expectation import expected
from tests.properties.forests import Forest, forests, large_forests
from tests.properties.operations import Ambiguous, Array
from tests.properties.oracle import TooLarge
from tests.properties.picking import pick
from tests.properties.programs import programs
from tests.properties.source import program_source, script
from tests.properties.syntax import Program
from tests.properties.tolerances import tolerances

Results = dict[str, Array | None]
Oracle = Callable[..., Results]

FORESTS_A_PROGRAM = 25
HANGS_AFTER_SECONDS = 240.0
_MOST_ATTEMPTS = 40


class Case:
    """A program and the forests that it runs on."""

    def __init__(self, program: Program, forests: tuple[Forest, ...]) -> None:
        self.program, self.forests = program, forests

    def __repr__(self) -> str:
        """Returns little: the script in the error says it better."""
        return "<the program in the script above>"


@st.composite
def cases(draw: Any, num_forests: int = FORESTS_A_PROGRAM) -> Case:
    """Draws a program, and forests for it, which may be large if there are many."""
    program = draw(programs())
    found = [draw(forests(program)) for _ in range(num_forests)]
    is_cheap = program.order == 1 and num_forests > 1
    if is_cheap and pick(draw, [False] * 4 + [True]):
        found.append(draw(large_forests(program)))
    return Case(program, tuple(found))


def settled(
    program: Program, forest: Forest, oracle: Oracle = expected
) -> tuple[Forest, Results] | None:
    """Returns a forest, and what to expect of it.

    Where the program takes too long on it, or hangs on the last digits of a float, the
    forest is one near it; None if none near it will do.
    """
    for _ in range(_MOST_ATTEMPTS):
        try:
            return forest, oracle(program, forest)
        except Ambiguous:
            forest = forest.with_other_numbers()
        except TooLarge:
            smaller = forest.smaller()
            if smaller is None:
                return None
            forest = smaller
    return None


@dataclasses.dataclass(frozen=True)
class Expectation:
    """What a run on a forest takes, has to show, and how exactly."""

    data: Mapping[str, Array]
    wanted: Results
    tolerance: Mapping[str, Array]


def expectations(case: Case, oracle: Oracle = expected) -> list[Expectation]:
    """Returns what to expect of a program on each forest that shows anything."""
    found = []
    for forest in case.forests:
        run = settled(case.program, forest, oracle)
        if run is None:
            continue
        try:
            found.append(_expectation(case.program, *run, oracle))
        except (Ambiguous, TooLarge):  # Where it rounds, or draws other numbers.
            continue
    return found


def _expectation(
    program: Program, forest: Forest, wanted: Results, oracle: Oracle
) -> Expectation:
    data, draws = forest.data(program), None
    if program.drawn:
        draws = _draws(program, data)
        wanted = oracle(program, forest, draws=draws)
    is_right = oracle is expected
    tolerance = tolerances(program, forest, wanted if is_right else None, draws)
    for table in program.drawn:  # Each executor has to draw the same.
        tolerance.pop(f"pushed {table}")
    return Expectation(data, wanted, tolerance)


def _draws(program: Program, data: Mapping[str, Array]) -> dict[str, Array]:
    """Returns the random numbers that the dataflow executor draws."""
    text = program_source(program, "dataflow")
    with _shown(functools.partial(script, text, data, {}, {})):
        found = compiled(text)(data)
    return {name: np.float64(found[f"pushed {name}"]) for name in program.drawn}


def check_case(
    case: Case, oracle: Oracle = expected, executors: Iterable[str] = chosen(0)
) -> Mapping[str, set[str]]:
    """Runs a program on its forests in each of some executors.

    Returns:
        The types of the root ops that were made, by executor.

    Raises:
        AssertionError: With a script that shows it, if a run does not show what the
            oracle does.
    """
    runs = expectations(case, oracle)
    root_ops = {}
    for executor in executors:
        text = program_source(case.program, executor)
        with root_op.observe() as made:
            for run in runs:
                _check_run(text, run)
        root_ops[executor] = set(made)
    return root_ops


def _check_run(text: str, run: Expectation) -> None:
    show = functools.partial(script, text, run.data, run.wanted, run.tolerance)
    with _shown(show):
        check(compiled(text)(run.data), run.wanted, dict(run.tolerance))


@contextlib.contextmanager
def _shown(show: Callable[[], str]) -> Iterator[None]:
    """Adds a script to what goes wrong."""
    try:
        with _left_behind_if_it_crashes(show), _shown_if_it_hangs():
            yield
    except Exception as error:
        raise AssertionError(
            f"{type(error).__name__}: {error}\n\nThis script shows it:\n\n{show()}"
        ) from error


@functools.lru_cache(maxsize=4)
def compiled(text: str) -> Callable[[Mapping[str, Any]], Results]:
    """Returns `run` of a program's text; it is traced once for all forests."""
    namespace: dict[str, Any] = {"__name__": "random_program"}
    exec(compile(text, "<random program>", "exec"), namespace)
    run: Callable[[Mapping[str, Any]], Results] = namespace["run"]
    return run


def running_path() -> pathlib.Path:
    """Returns where the script that runs is, for as long as it runs."""
    name = f"recursive_tf_random_program_{os.getpid()}.py"
    return pathlib.Path(tempfile.gettempdir()) / name


@contextlib.contextmanager
def _left_behind_if_it_crashes(show: Callable[[], str]) -> Iterator[None]:
    """A process that ends here cannot say why, but leaves the script."""
    path = running_path()
    path.write_text(show())
    try:
        yield
    finally:
        path.unlink()


@contextlib.contextmanager
def _shown_if_it_hangs() -> Iterator[None]:
    """Ends the process if what is inside does not end: nothing else can stop it."""

    def end() -> None:
        faulthandler.dump_traceback()
        os.write(2, f"\nA random program hangs: {running_path()}\n".encode())
        os._exit(3)

    timer = threading.Timer(HANGS_AFTER_SECONDS, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
