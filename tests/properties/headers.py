"""Draws what is known of SubGraphs before their bodies: names, types, structures."""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import strategies as st

from tests.properties.expressions import Sizes
from tests.properties.picking import pick, pick_some
from tests.properties.syntax import BOOL, INT32, Capture, Header, Nest, Type, Var

# How values may stand in a structure, by their number. The first is a tuple, which is
# what a conditional returns too.
NESTS = {
    1: (
        Nest("({0},)", ("[0]",)),
        Nest("{0}", ("",)),
        Nest('{{"a": {0}}}', ('["a"]',)),
        Nest("[({0},)]", ("[0][0]",)),
    ),
    2: (
        Nest("({0}, {1})", ("[0]", "[1]")),
        Nest('{{"a": {0}, "b": {1}}}', ('["a"]', '["b"]')),
        Nest("Pair({0}, [{1}])", (".first", ".second[0]")),
        Nest("[{0}, {1}]", ("[0]", "[1]")),
    ),
    3: (
        Nest("({0}, {1}, {2})", ("[0]", "[1]", "[2]")),
        Nest("({0}, ({1}, {2}))", ("[0]", "[1][0]", "[1][1]")),
        Nest(
            '{{"a": Pair({0}, {1}), "b": {2}}}',
            ('["a"].first', '["a"].second', '["b"]'),
        ),
    ),
}


def is_plain_tuple(nest: Nest) -> bool:
    """Says whether a structure is that which a conditional returns."""
    return any(nest == nests[0] for nests in NESTS.values())


def value_types(sizes: Sizes) -> list[Type]:
    """Returns the types that are inputs, outputs and results, the simplest first."""
    return [
        sizes.vector(),
        sizes.scalar(),
        INT32,
        sizes.matrix(),
        BOOL,
        sizes.scalar(sizes.other),
        *([sizes.longer()] if sizes.has_lists else []),
        *_complex_types(sizes),
        Type("int64"),
        sizes.vector(sizes.other),
        Type("int32", (sizes.width,)),
    ]


def _complex_types(sizes: Sizes) -> list[Type]:
    if not sizes.has_complex:
        return []
    return [Type(sizes.complex, (sizes.width,)), Type(sizes.complex)] * 2


def fixed_types(sizes: Sizes) -> list[Type]:
    """Returns those of which all values have the same shape."""
    return [kind for kind in value_types(sizes) if None not in kind.shape]


def differentiable_types(sizes: Sizes) -> list[Type]:
    """Returns those that may have a gradient."""
    return [kind for kind in fixed_types(sizes) if kind.is_differentiable]


@dataclasses.dataclass(frozen=True)
class HeaderDrawing:
    """Draws headers.

    Attributes:
        tables: What is pushed.
        pushers: Which SubGraph pushes to which table, if it does not recurse. Those
            that walk over trees push to the others, in the same invocation.
    """

    draw: Any
    sizes: Sizes
    tables: tuple[tuple[str, Type], ...]
    pushers: dict[str, str] = dataclasses.field(default_factory=dict)

    def header(self, name: str, kind: str, *, is_fixed: bool) -> Header:
        """Draws one; with `is_fixed`, all its outputs have fixed shapes."""
        pool = (fixed_types if is_fixed else value_types)(self.sizes)
        first = pick(self.draw, differentiable_types(self.sizes))
        more = pick_some(self.draw, pool, 0, 2)
        nests = NESTS[1 + len(more)]
        inputs = pick_some(self.draw, value_types(self.sizes), 0, 3)
        if kind == "shared":  # What its key does not say may not differ.
            inputs = pick_some(self.draw, [BOOL], 0, 1)
        pusher = {"tree": None, "plain": name}.get(kind, "nobody")
        pushes = tuple(
            table
            for table, _ in self.tables
            if self.pushers.get(table) == pusher
            and pick(self.draw, [True, True, False])
        )
        return Header(
            name,
            kind,
            tuple(inputs),
            (first, *more),
            pick(self.draw, nests[:1] * 2 + nests),
            self._packed(len(inputs)),
            pushes,
        )

    def _packed(self, count: int) -> Nest | None:
        if count == 0 or not self.draw(st.booleans()):
            return None
        # A tuple of one is a structure, the value itself is not.
        return pick(self.draw, [n for n in NESTS[count] if n.text != "{0}"])


def draw_tables(draw: Any, sizes: Sizes) -> tuple[tuple[str, Type], ...]:
    """Draws what is pushed: nothing, or one or two tables."""
    types = pick_some(draw, fixed_types(sizes), 0, 2)
    return tuple((f"table_{i}", kind) for i, kind in enumerate(types))


def draw_drawn(
    draw: Any, tables: tuple[tuple[str, Type], ...], sizes: Sizes
) -> tuple[str, ...]:
    """Draws which tables are of random numbers: in a third of the programs, one."""
    names = [name for name, kind in tables if kind.dtype in (sizes.dtype, sizes.other)]
    return (names[0],) if names and pick(draw, [False, False, True]) else ()


def draw_captures(draw: Any, sizes: Sizes) -> tuple[Capture, ...]:
    """Draws outer tensors and variables."""
    pool = [
        sizes.matrix(),
        sizes.vector(),
        sizes.table(),
        sizes.scalar(),
        sizes.wide(),
        INT32,
        BOOL,
        sizes.vector(sizes.other),
        *_complex_types(sizes),
    ]
    types = [sizes.matrix(), *pick_some(draw, pool, 0, 4)]
    # TensorFlow 2.21 adds up gradients of a bool variable that loops in a loop read.
    return tuple(
        Capture(Var(f"w{i}", kind), draw(st.booleans()) and kind != BOOL)
        for i, kind in enumerate(types)
    )
