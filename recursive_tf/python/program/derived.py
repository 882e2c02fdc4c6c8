"""What is made of a program once: its compilation, its gradients, its tangents.

It is kept with the graph of the program's first procedure, and goes with it.
"""

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from recursive_tf.python.tf_compat import FuncGraph

_Made = TypeVar("_Made")

_TABLE = "recursive_derived"


class _Table:
    """What was made of one program.

    Thread safety: `lock` is held while something is made, so that nothing is twice.
    What is made may make another thing of the same program.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.made: dict[Hashable, Any] = {}


_making_tables = threading.Lock()


def derived(entry: FuncGraph, what: Hashable, make: Callable[[], _Made]) -> _Made:
    """Returns what `make` makes of a program; it is called once for each `what`.

    What it raises is raised each time, and nothing is kept of that.

    Args:
        entry: The graph of the program's first procedure.
        what: Names it.
        make: Makes it.
    """
    table = _table_of(entry)
    with table.lock:
        if what not in table.made:
            table.made[what] = make()
        made: _Made = table.made[what]
        return made


def is_form_of(graph: FuncGraph, entry: FuncGraph) -> None:
    """Says that a graph is another form of an entry: what is made is of both."""
    setattr(graph, _TABLE, _table_of(entry))


def _table_of(entry: FuncGraph) -> _Table:
    with _making_tables:
        table: _Table | None = getattr(entry, _TABLE, None)
        if table is None:
            table = _Table()
            setattr(entry, _TABLE, table)
        return table
