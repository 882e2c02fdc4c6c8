"""What of TensorFlow works in and around SubGraphs: a table whose rows are tests.

`feature(...)` is the only way to make a row. It makes it of a test, which then runs in
both executors, and fails unless all is so that the row says:

- SubGraphs are called from outside, and all of them run in that executor;
- gradients are taken if the row says so, and none if it does not;
- what the batched executor refuses raises `SubGraphError` with the reason of the row;
  with executor="auto" it runs in the dataflow executor, and `rtf.explain` tells the
  same reason;
- what is not supported raises the error of the row.

`docs/language.md` shows the table; `tools/language_table.py` writes it.
"""

import contextlib
import dataclasses
import functools
import re
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import pytest

import recursive_tf as rtf
from recursive_tf.ops import library
from recursive_tf.python.subgraphs import subgraph as subgraphs

EXECUTORS = ("dataflow", "batched")
GRADIENT_OPS = ("recursive_invoke_gradient", "recursive_invoke_batched_gradient")

# In the order of the table.
SECTIONS = (
    "Types and shapes",
    "Ragged, sparse and other composite tensors",
    "Control flow in bodies",
    "State and effects",
    "Random numbers",
    "Gradients",
    "Vertex functions",
    "Where a root call may be",
    "Keras",
    "Saving and loading",
)


@dataclasses.dataclass(frozen=True)
class Feature:
    """A row of the table.

    Attributes:
        section: One of SECTIONS.
        name: In Markdown.
        gradients: Whether the test takes gradients, too.
        refused: Why the batched executor does not run it, if it does not: a part of
            its error's message, in which "…" stands for anything.
        raises: What both executors raise, if it is not supported at all.
        says: A part of that error's message, too.
        module: Of the test.
        test: The test's name.
    """

    section: str
    name: str
    gradients: bool
    refused: str | None
    raises: type[Exception] | None
    says: str | None
    module: str
    test: str


_features: dict[tuple[str, str], Feature] = {}


def registered_features() -> list[Feature]:
    """Returns the rows of the test modules, in whatever order these were imported."""
    return sorted(
        _features.values(), key=lambda f: (SECTIONS.index(f.section), f.module)
    )


def feature(
    section: str,
    name: str,
    *,
    gradients: bool = False,
    refused: str | None = None,
    raises: type[Exception] | None = None,
    says: str | None = None,
) -> Callable[[Callable[..., None]], Any]:
    """Makes a row of the table of a test; the arguments are those of `Feature`.

    The test makes its SubGraphs without saying in which executor, and calls them.
    """
    if section not in SECTIONS:
        raise ValueError(f"There is no section {section!r}: choose one of {SECTIONS}.")
    if (raises is None) != (says is None):
        raise ValueError(f"'{name}' needs both of raises= and says=, or none.")

    def register(test: Callable[..., None]) -> Any:
        names = test.__module__, test.__name__
        made = Feature(section, name, gradients, refused, raises, says, *names)
        _add(made)

        @functools.wraps(test)
        def run(*args: Any, **kwargs: Any) -> None:
            check(made, lambda: test(*args, **kwargs))

        run.feature = made  # type: ignore[attr-defined]
        run_twice = pytest.mark.parametrize("executor", EXECUTORS, indirect=True)(run)
        if refused is None:
            return run_twice
        return pytest.mark.falls_back(refused)(run_twice)

    return register


def _add(made: Feature) -> None:
    if not made.test.startswith("test_"):
        raise ValueError(f"'{made.name}' is no test: pytest would not run {made.test}.")
    known = _features.setdefault((made.section, made.name), made)
    if (known.module, known.test) != (made.module, made.test):
        raise ValueError(f"'{made.name}' has two tests: {known.test}, {made.test}.")


def check(made: Feature, run: Callable[[], None]) -> None:
    """Runs a test, and fails if anything is not so that its row says."""
    executor = _choices()["executor"]
    assert executor in EXECUTORS, "The test was not run by the fixture of its row."
    if made.raises is not None and made.says is not None:
        with pytest.raises(made.raises, match=_pattern(made.says)):
            run()
    elif made.refused is not None and executor == "batched":
        _check_refused(made, made.refused, run)
    else:
        found = _observed(made, run)
        assert {explained(f).executor for f in found} == {executor}


def _check_refused(made: Feature, reason: str, run: Callable[[], None]) -> None:
    with pytest.raises(rtf.SubGraphError, match=_pattern(reason)):
        run()
    with mock.patch.dict(_choices(), executor="auto"):
        explanations = [explained(f) for f in _observed(made, run)]
    taken = [e for e in explanations if e.executor == "dataflow"]
    assert taken, "It was not refused with executor='auto'."
    assert all(re.search(_pattern(reason), " ".join(e.reasons)) for e in taken)


def explained(subgraph: rtf.SubGraph) -> rtf.Explanation:
    """Returns what `rtf.explain` says of one SubGraph."""
    explanation = rtf.explain(subgraph)
    assert isinstance(explanation, rtf.Explanation)
    return explanation


def _pattern(says: str) -> str:
    """Returns a pattern for a part of a message."""
    return "(?s)" + ".*".join(map(re.escape, says.split("…")))


def _observed(made: Feature, run: Callable[[], None]) -> list[rtf.SubGraph]:
    """Runs a test, and returns the SubGraphs that it called from outside."""
    with _called_subgraphs() as called, _counted_gradients() as gradients:
        run()
    assert called, "The test calls no SubGraph."
    assert bool(gradients) == made.gradients, "Is it gradients=True?"
    return called


@contextlib.contextmanager
def _called_subgraphs() -> Iterator[list[rtf.SubGraph]]:
    called: list[rtf.SubGraph] = []
    original = subgraphs.root_call_of

    def root_call_of(subgraph: rtf.SubGraph) -> Any:
        called.append(subgraph)
        return original(subgraph)

    with mock.patch.object(subgraphs, "root_call_of", root_call_of):
        yield called


@contextlib.contextmanager
def _counted_gradients() -> Iterator[list[str]]:
    """Gives a list of the gradient ops of root calls that are added."""
    added: list[str] = []

    def counted(name: str) -> Callable[..., Any]:
        original = getattr(library, name)

        def add(**arguments: Any) -> Any:
            added.append(name)
            return original(**arguments)

        return add

    with contextlib.ExitStack() as stack:
        for name in GRADIENT_OPS:
            stack.enter_context(mock.patch.object(library, name, counted(name)))
        yield added


def _choices() -> dict[str, Any]:
    """Returns what a SubGraph gets if it does not say; `executor`, a fixture, too."""
    choices = rtf.SubGraph.__init__.__kwdefaults__
    assert choices is not None
    return choices
