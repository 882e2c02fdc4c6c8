"""Which executor ran what a test calls, as the program's own root ops say."""

import contextlib
import dataclasses
import sys

import pytest

ROOT_OPS = {
    "dataflow": "RecursiveInvoke",
    "auto": "RecursiveInvokeBatched",
    "batched": "RecursiveInvokeBatched",
}


@dataclasses.dataclass(frozen=True)
class Ran:
    """What was made while somebody looked.

    Attributes:
        root_ops: Their types.
        fallbacks: What `auto` did not batch, and why.
    """

    root_ops: list
    fallbacks: list

    def __add__(self, other):
        return Ran(self.root_ops + other.root_ops, self.fallbacks + other.fallbacks)


@contextlib.contextmanager
def observed():
    """Looks on as long as the context lasts."""
    if "recursive_tf" not in sys.modules:  # Which takes seconds.
        yield Ran([], [])
        return
    from recursive_tf.python.root_calls import fallback, root_op

    with root_op.observe() as root_ops, fallback.observe() as fallbacks:
        yield Ran(root_ops, fallbacks)


def check(ran, *, meant, marks):
    """Fails a test if something else ran than was meant.

    Args:
        ran: In the test, and in its fixtures.
        meant: The executor of its parameter; None if it has none.
        marks: The names of its markers.
    """
    if "traces_only" in marks:
        if ran.root_ops:
            pytest.fail("It makes a root call: take the marker `traces_only` away.")
        return
    if meant != "dataflow" and "falls_back" in marks:
        if not ran.fallbacks:
            pytest.fail("Nothing fell back: take the marker `falls_back` away.")
        return
    if ran.fallbacks and "may_fall_back" not in marks:
        lines = "\n".join(ran.fallbacks)
        pytest.fail(
            f"It ran in the dataflow executor, which is not what it tests:\n{lines}\n"
            "Make the program one that is batched, or mark the test with "
            '`@pytest.mark.falls_back("why")`.'
        )
    is_marked = not marks.isdisjoint(("every_executor", "executor"))
    if is_marked and ROOT_OPS[meant] not in ran.root_ops:
        pytest.fail(
            f"No {ROOT_OPS[meant]} was made, so the executor '{meant}' is not tested. "
            "Make what calls SubGraphs anew for each test, or in a fixture that takes "
            "`executor`; or mark a test that makes no root call with `traces_only`."
        )
