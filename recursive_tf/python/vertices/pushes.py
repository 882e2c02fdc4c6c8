"""What vertices push: tables, by name, and what a call returns of them."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from recursive_tf.python.errors import SubGraphError

# Takes the name of a table and a row of it.
PushRow = Callable[[str, Any], None]
# Of the table, where the function gives no name.
_UNNAMED = "pushed"


class Pushes:
    """The names and structures that a vertex function pushes.

    Args:
        name: Of the function, for errors.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._structures: dict[str | None, Any] = {}

    def add(self, name: str | None, value: Any, push_row: PushRow) -> None:
        """Pushes a row for each tensor of a value.

        Raises:
            SubGraphError: If the name, or the value under that name, is unlike those
                before.
        """
        structure = tf.nest.map_structure(lambda _: None, value)
        known = self._structures.setdefault(name, structure)
        if len(self._structures) > 1 and None in self._structures:
            raise SubGraphError(
                f"Vertex function '{self._name}' pushes with a name and without. A "
                "call returns a dict, by name, or a value: give each push a name, e.g. "
                'v.push(h, name="h").'
            )
        if structure != known:
            raise SubGraphError(
                f"Vertex function '{self._name}' pushes values of two structures"
                f"{'' if name is None else f' as {name!r}'}. Push the same "
                "structure in all branches, or give each push a name of its own."
            )
        leaves = tf.nest.flatten(value)
        for table, leaf in zip(_tables(name, len(leaves)), leaves, strict=True):
            push_row(table, leaf)

    def pack(self, tables: dict[str, tf.Tensor]) -> Any:
        """Returns what a call returns, of tables [num_vertices, ...].

        Raises:
            SubGraphError: If the function pushes nothing.
        """
        if not self._structures:
            raise SubGraphError(
                f"Vertex function '{self._name}' pushes nothing, so that a call of it "
                "returns nothing. Push what each vertex is to return, e.g. v.push(h)."
            )
        packed = {
            name: self._packed(name, structure, tables)
            for name, structure in self._structures.items()
        }
        return packed.get(None, packed)

    def _packed(
        self, name: str | None, structure: Any, tables: dict[str, tf.Tensor]
    ) -> Any:
        names = _tables(name, len(tf.nest.flatten(structure)))
        return tf.nest.pack_sequence_as(structure, [tables[table] for table in names])


def _tables(name: str | None, count: int) -> list[str]:
    name = _UNNAMED if name is None else name
    return [name] if count == 1 else [f"{name}/{i}" for i in range(count)]
