"""Runs random programs, and shows the whole of what fails."""

from __future__ import annotations

import collections
import contextlib
import faulthandler
import functools
import os
import pathlib
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from hypothesis import strategies as st

from recursive_tf.python.root_calls import root_op
from tests.properties.checking import check
from tests.properties.forests import Forest, forests
from tests.properties.operations import Ambiguous, Array
from tests.properties.oracle import TooLarge, expected
from tests.properties.programs import programs
from tests.properties.source import EXECUTORS, program_source, script
from tests.properties.syntax import Program
from tests.properties.tolerances import tolerances

Results = dict[str, Array | None]
Oracle = Callable[[Program, Forest], Results]

FORESTS_A_PROGRAM = 25
# How many programs had root ops of which types, by what they ran in.
EXECUTED: collections.Counter[Any] = collections.Counter()
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
    """Draws a program, and forests for it."""
    program = draw(programs())
    return Case(program, tuple(draw(forests(program)) for _ in range(num_forests)))


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


def check_case(
    case: Case, oracle: Oracle = expected, executors: Iterable[str] = EXECUTORS
) -> int:
    """Runs a program on its forests in each executor, and returns on how many.

    Raises:
        AssertionError: With a script that shows it, if a run does not show what the
            oracle does.
    """
    found = [settled(case.program, forest, oracle) for forest in case.forests]
    runs = [run for run in found if run is not None]
    allowed = [tolerances(case.program, forest) for forest, _ in runs]
    for executor in executors:
        text = program_source(case.program, executor)
        with root_op.observe() as made:
            for (forest, wanted), tolerance in zip(runs, allowed, strict=True):
                _check_run(text, forest.data(case.program), wanted, tolerance)
        EXECUTED[(executor, *sorted(set(made)))] += 1
    return len(runs)


def batched_share() -> tuple[float, int]:
    """Returns the share of programs so far that `auto` ran batched, of how many."""
    counts = collections.Counter(
        root_op.DATAFLOW in made
        for (executor, *made), count in EXECUTED.items()
        if executor == "batched" and made
        for _ in range(count)
    )
    total = sum(counts.values())
    return counts[False] / max(total, 1), total


def _check_run(
    text: str,
    data: Mapping[str, Array],
    wanted: Results,
    tolerance: Mapping[str, Array],
) -> None:
    show = functools.partial(script, text, data, wanted, tolerance)
    try:
        with _left_behind_if_it_crashes(show), _shown_if_it_hangs():
            found = compiled(text)(data)
        check(found, wanted, dict(tolerance))
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
