"""Draws whole programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from tests.properties.bodies import BodyDrawing
from tests.properties.expressions import Sizes
from tests.properties.headers import (
    HeaderDrawing,
    draw_captures,
    draw_drawn,
    draw_tables,
    is_plain_tuple,
)
from tests.properties.picking import pick, pick_some
from tests.properties.syntax import (
    COARSE,
    Call,
    Conditional,
    Define,
    Draw,
    Header,
    Map,
    Program,
    Push,
    SubGraph,
    walk,
)


@st.composite
def programs(draw: Any) -> Program:
    """Draws a program whose root SubGraph walks over a tree."""
    order = pick(draw, [1] * 6 + [2])
    sizes = _draw_sizes(draw, order)
    arity, is_mapped = pick(draw, [1, 2, 3]), draw(st.booleans())
    is_full = draw(st.booleans())
    captures = draw_captures(draw, sizes)
    tables = draw_tables(draw, sizes)
    drawn = draw_drawn(draw, tables, sizes)
    heading = HeaderDrawing(draw, sizes, tables)
    headers = _headers(heading, is_mapped)
    drawing = BodyDrawing(
        heading,
        {header.name: header for header in headers},
        [capture.var for capture in captures],
        drawn=drawn,
        # An effect is not batched, and has no gradient of a gradient.
        counts=order == 1 and pick(draw, [False] * 4 + [True]),
    )
    drawing.arity, drawing.num_sure = arity, arity if is_full else 1
    subgraphs = [drawing.subgraph(header) for header in headers]
    subgraphs[0] = _without_signature(subgraphs[0])
    pushed = pushed_tables(subgraphs)
    return Program(
        subgraphs=tuple(subgraphs),
        captures=captures,
        tables=tuple(table for table in tables if table[0] in pushed),
        drawn=tuple(name for name in drawn if name in pushed),
        arity=arity,
        is_full=is_full,
        width=sizes.width,
        dtype=sizes.dtype,
        seed=draw(st.integers(0, 999)),
        is_mapped=is_mapped,
        # TensorFlow has no zeros for a function's results of unknown shape that an
        # eager tape of second order finds unused.
        form=pick(draw, ["inside", "outside", *(["eager"] if order == 1 else [])]),
        order=order,
    )


def _draw_sizes(draw: Any, order: int) -> Sizes:
    dtype = pick(draw, ["float64", "float32"] * 5 + ["float16", "bfloat16"])
    finer = [name for name in ("float64", "float32") if name != dtype]
    other = pick(draw, [dtype] * 6 + finer * 2 + ["float16", "bfloat16"])
    may_be_complex = order == 1 and dtype not in COARSE
    return Sizes(
        width=pick(draw, [2, 3, 1]),
        dtype=dtype,
        other=other,
        # Their lengths differ between invocations, which is not batched.
        has_lists=pick(draw, [False] * 4 + [True]),
        has_complex=may_be_complex and pick(draw, [False] * 4 + [True]),
        has_own_slopes=order == 1,
    )


def _headers(heading: HeaderDrawing, is_mapped: bool) -> list[Header]:
    kinds = ["tree", "fuel", "plain", "shared"]
    others = pick_some(heading.draw, kinds, 0, 2)
    if "plain" in others and heading.tables:
        table, _ = heading.tables[-1]
        heading.pushers[table] = f"f{1 + others.index('plain')}"
    return [
        # Rows of a map are stacked, so they have one shape.
        heading.header(f"f{i}", kind, is_fixed=is_mapped and i == 0)
        for i, kind in enumerate(["tree", *others])
    ]


def _without_signature(subgraph: SubGraph) -> SubGraph:
    """Takes the signature off if sibling branches show what the SubGraph returns."""
    header = subgraph.header
    if not is_plain_tuple(header.nest) or any(None in t.shape for t in header.outputs):
        return subgraph
    *before, dispatch = subgraph.body.statements or [None]
    if (
        not isinstance(dispatch, Conditional)
        or dispatch.targets != subgraph.body.results
    ):
        return subgraph
    nested = [s for block in dispatch.branches for s in block.statements]
    deep = [s for s in nested if not isinstance(s, Call)]
    if _calls_of(header.name, [*before, *deep]) or not _has_base(header.name, dispatch):
        return subgraph
    header = dataclasses.replace(header, is_declared=False)
    return dataclasses.replace(subgraph, header=header)


def _calls_of(name: str, part: Any) -> bool:
    return any(
        isinstance(p, Call | Map) and p.callee == name for p in walk(tuple(part))
    )


def _has_base(name: str, dispatch: Conditional) -> bool:
    return any(not _calls_of(name, block.statements) for block in dispatch.branches)


def reachable(subgraphs: Sequence[SubGraph]) -> list[SubGraph]:
    """Returns the SubGraphs that may run, those defined in others too, root first."""
    known = {
        s.header.name: s for s in walk(tuple(subgraphs)) if isinstance(s, SubGraph)
    }
    names = [subgraphs[0].header.name]
    for name in names:  # It grows.
        parts = own_parts(known[name])
        called = {part.callee for part in parts if isinstance(part, Call | Map)}
        names += sorted(called - set(names))
    return [known[name] for name in names]


def own_parts(subgraph: SubGraph) -> list[Any]:
    """Returns the parts of a body, without those of SubGraphs defined in it."""
    parts = list(walk(subgraph.body))
    inner = [walk(part.subgraph) for part in parts if isinstance(part, Define)]
    hidden = {id(part) for parts in inner for part in parts}
    return [part for part in parts if id(part) not in hidden]


def pushed_tables(subgraphs: Sequence[SubGraph]) -> set[str]:
    """Returns the names of the tables that the program pushes to."""
    parts = [part for s in reachable(subgraphs) for part in own_parts(s)]
    return {part.table for part in parts if isinstance(part, Push | Draw)}
