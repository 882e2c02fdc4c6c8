"""How the rows that vertices push get out: all of them, or those of some vertices.

`AllRows` and `WantedRows` have the same methods. `add` takes a row while the body of a
vertex's state is traced, `close` ends the body, and `rows` adds the root call.
"""

from typing import Any, Protocol

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.subgraphs.subgraph import SubGraph
from recursive_tf.python.vertices.pushes import PushRow


class Outgoing(Protocol):
    """The rows that vertices push."""

    def add(self, table: str, value: Any) -> None:
        """Takes what a vertex pushes to a table."""

    def close(self, scattered: Any) -> None:
        """Ends the body of the state, which is given."""

    def rows(self) -> dict[str, tf.Tensor]:
        """Adds the root call, and returns the rows of each table."""


class AllRows:
    """Tables with a row for each vertex.

    A SubGraph that returns nothing asks for the state of a vertex; a map of that over
    all vertices is the root call. So every vertex is there before the first one is
    computed, and nobody goes down from roots to leaves.

    Args:
        state: From a vertex to its state, whose body is traced.
        size: The number of vertices.
        push_row: Pushes a row of a table.
        choices: The executor and options of a SubGraph.
    """

    def __init__(
        self,
        state: SubGraph,
        size: tf.Tensor,
        push_row: PushRow,
        choices: dict[str, Any],
    ) -> None:
        self.add = push_row
        self._state = state
        self._size = size
        self._choices = choices

    def close(self, scattered: Any) -> None:
        """Has nothing left to push."""

    def rows(self) -> dict[str, tf.Tensor]:
        """Adds the root call, and returns the rows of each table."""
        every = SubGraph(f"{self._state.name}_vertices", **self._choices)
        with every:
            self._state(every.input(tf.int32, name="vertex"))
            every.output()
        tables: dict[str, tf.Tensor]
        _, tables = every.map(tf.range(self._size), with_pushed=True)
        return tables


class WantedRows:
    """Rows of the vertices that are wanted.

    The root call is a map of their states. They ask for what they gather, down to the
    leaves. What they push of their state are results of that call, and nothing is
    written for other vertices. What is pushed beside the state, or in a branch, goes to
    a table with a row for each vertex, of which the rows are taken.

    Args:
        state: From a vertex to its state, whose body is traced.
        wanted: The vertices.
        push_row: Pushes a row of a table.
    """

    def __init__(self, state: SubGraph, wanted: tf.Tensor, push_row: PushRow) -> None:
        self._state = state
        self._wanted = wanted
        self._push_row = push_row
        self._body = tf_compat.default_graph()
        self._held: list[tuple[str, Any]] = []
        self._in_branches: list[str] = []
        self._parts: dict[str, int] = {}

    def add(self, table: str, value: Any) -> None:
        """Takes what a vertex pushes to a table."""
        if tf_compat.default_graph() is self._body:
            self._held.append((table, value))
        else:
            self._in_branches.append(table)
            self._push_row(table, value)

    def close(self, scattered: Any) -> None:
        """Pushes what is no part of the state."""
        parts = {id(part): i for i, part in enumerate(tf.nest.flatten(scattered))}
        tables = [*self._in_branches, *(table for table, _ in self._held)]
        for table, value in self._held:
            # Of two pushes to a row, the second fails, when it runs.
            if id(value) in parts and tables.count(table) == 1:
                self._parts[table] = parts[id(value)]
            else:
                self._push_row(table, value)

    def rows(self) -> dict[str, tf.Tensor]:
        """Adds the root call, and returns the rows of each table."""
        states, tables = self._state.map(self._wanted, with_pushed=True)
        states = tf.nest.flatten(states)
        rows = {table: states[part] for table, part in self._parts.items()}
        for table, every in tables.items():
            rows[table] = tf.gather(every, self._wanted)
        return rows
