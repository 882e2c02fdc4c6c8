"""What a random program is made of, for the statistics of the generator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.properties.programs import own_parts, reachable
from tests.properties.syntax import (
    CHILDREN,
    COARSE,
    COUNTS,
    FLOATS,
    WORDS,
    Apply,
    Call,
    Conditional,
    Const,
    Count,
    Define,
    Draw,
    Loop,
    Map,
    Program,
    Push,
    SubGraph,
    Var,
    walk,
)


def features_of(program: Program) -> set[str]:
    """Returns the names of what is found in the SubGraphs that may run."""
    subgraphs = reachable(program.subgraphs)
    found = {f"form: {program.form}", f"arity: {program.arity}"}
    found |= {name for name, holds in _OF_PROGRAM.items() if holds(program, subgraphs)}
    found |= {f"kind: {subgraph.header.kind}" for subgraph in subgraphs}
    for subgraph in subgraphs:
        parts = own_parts(subgraph)
        found |= {f"operation: {p.operation}" for p in parts if isinstance(p, Apply)}
        found |= {f"dtype: {p.type.dtype}" for p in parts if isinstance(p, Var)}
        found |= {f"rank: {len(p.type.shape)}" for p in parts if isinstance(p, Var)}
        found |= {name for name, holds in _OF_BODY.items() if holds(subgraph, parts)}
    return found


def is_never_batched(program: Program) -> bool:
    """Says whether it has in it what `docs/batching.md` says is refused.

    That is an effect, and values of any shape that go from one body to another.
    """
    parts = [part for s in reachable(program.subgraphs) for part in own_parts(s)]
    return any(
        isinstance(part, Count) or (_is_typed(part) and None in part.type.shape)
        for part in parts
    )


def _is_typed(part: Any) -> bool:
    is_data = isinstance(part, Var) and part.name in _DATA
    return isinstance(part, Var | Const | Apply) and not is_data


_DATA = {CHILDREN.name, COUNTS.name, WORDS.name, "features"}


def _calls(parts: Any) -> Iterator[Call | Map]:
    return (part for part in parts if isinstance(part, Call | Map))


def _has(
    kind: type, test: Callable[[Any], bool] = lambda _: True
) -> Callable[..., bool]:
    return lambda _, parts: any(isinstance(p, kind) and test(p) for p in parts)


def _is_mutual(_: Program, subgraphs: list[SubGraph]) -> bool:
    called = {
        s.header.name: {c.callee for c in _calls(own_parts(s))} for s in subgraphs
    }
    return any(
        a in called[b] and b in called[a] for a in called for b in called if a != b
    )


def _calls_in(part: Any, kind: type) -> bool:
    return any(isinstance(p, kind) and any(_calls(walk(p))) for p in walk(part))


def _nests(conditional: Conditional) -> bool:
    return any(isinstance(p, Conditional) for p in walk(conditional.branches))


def _names(part: Any) -> list[str]:
    return [p.name for p in walk(part) if isinstance(p, Var)]


def _has_unused_call(_: SubGraph, parts: list[Any]) -> bool:
    used = [p.name for p in parts if isinstance(p, Var)]
    # Once where it is defined, and nowhere else.
    return any(all(used.count(t.name) == 1 for t in c.targets) for c in _calls(parts))


def _has_dependent_calls(_: SubGraph, parts: list[Any]) -> bool:
    results = {target.name for call in _calls(parts) for target in call.targets}
    return any(results & set(_names(call.args)) for call in _calls(parts))


def _uses_a_value_often(_: SubGraph, parts: list[Any]) -> bool:
    targets = {target.name for call in _calls(parts) for target in call.targets}
    used = [p.name for p in parts if isinstance(p, Var)]
    return any(used.count(name) > 3 for name in targets)


def _captures_locally(subgraph: SubGraph, parts: list[Any]) -> bool:
    for define in (p for p in parts if isinstance(p, Define)):
        inside = set(_names(define.subgraph.body))
        around = {t.name for p in parts if isinstance(p, Call) for t in p.targets}
        around |= {x.name for x in (subgraph.node, *subgraph.inputs)}
        if inside & around:
            return True
    return False


def _captures(test: Callable[[Any], bool]) -> Callable[..., bool]:
    def holds(program: Program, subgraphs: list[SubGraph]) -> bool:
        names = {name for s in subgraphs for name in _names(s.body)}
        return any(c.var.name in names and test(c) for c in program.captures)

    return holds


_OF_PROGRAM: dict[str, Callable[[Program, list[SubGraph]], bool]] = {
    "map": lambda program, _: program.is_mapped,
    "full trees": lambda program, _: program.is_full and program.arity > 1,
    "several SubGraphs": lambda _, subgraphs: len(subgraphs) > 1,
    "mutual calls": _is_mutual,
    "a captured variable": _captures(lambda c: c.is_variable),
    "a captured tensor": _captures(lambda c: not c.is_variable),
    "a captured matrix": _captures(lambda c: len(c.var.type.shape) == 2),
    "no table": lambda program, _: not program.tables,
    "one table": lambda program, _: len(program.tables) == 1,
    "two tables": lambda program, _: len(program.tables) == 2,
    "a table of integers": lambda program, _: any(
        not kind.is_differentiable for _, kind in program.tables
    ),
    "a gradient of a gradient": lambda program, _: program.order == 2,
    "coarse floats": lambda program, _: not program.dtypes.isdisjoint(COARSE),
    "complex numbers": lambda program, _: any(
        name.startswith("complex") for name in program.dtypes
    ),
    "several dtypes of floats": lambda program, _: (
        len(program.dtypes.intersection(FLOATS)) > 1
    ),
    "random numbers": lambda program, _: bool(program.drawn),
    "a memoized SubGraph": lambda _, subgraphs: any(
        s.header.kind == "shared" for s in subgraphs
    ),
    "what is never batched": lambda program, _: is_never_batched(program),
    "an input of the root with a gradient": lambda program, _: bool(
        program.float_arguments
    ),
}

_OF_BODY: dict[str, Callable[[SubGraph, list[Any]], bool]] = {
    "a conditional": _has(Conditional, lambda p: p.selector.type.dtype == "bool"),
    "a switch": _has(Conditional, lambda p: p.selector.type.dtype != "bool"),
    "a conditional in another": _has(Conditional, _nests),
    "a call in a branch": _has(Conditional, lambda p: any(_calls(walk(p)))),
    "a branch on a computed float": _has(
        Conditional, lambda p: "operation='above'" in repr(p.selector)
    ),
    "a loop": _has(Loop),
    "a call in a loop": _has(Loop, lambda p: any(_calls(walk(p)))),
    "a call in a nested loop or branch": lambda s, _: (
        _calls_in(s.body.results, Loop)
        or any(_calls_in(b, Conditional) for b in s.body.statements)
    ),
    "a map in a body": _has(Map, lambda p: not p.is_loop),
    "a loop that only calls": _has(Map, lambda p: p.is_loop),
    "a map of what counts down": _has(Map, lambda p: p.fuel is not None),
    "a draw in a branch": _has(
        Conditional, lambda p: any(isinstance(q, Draw) for q in walk(p))
    ),
    "a push": _has(Push),
    "a push in a branch": _has(
        Conditional, lambda p: any(isinstance(q, Push) for q in walk(p))
    ),
    "an effect": _has(Count),
    "a SubGraph in a body": _has(Define),
    "a local capture": _captures_locally,
    "a call with an unused result": _has_unused_call,
    "a call of a call's result": _has_dependent_calls,
    "a result that is used often": _uses_a_value_often,
    "outputs found in a sibling": lambda s, _: not s.header.is_declared,
    "several outputs": lambda s, _: len(s.header.outputs) > 1,
    "outputs in a structure": lambda s, _: "Pair" in s.header.nest.text,
    "inputs in a structure": lambda s, _: s.header.packed is not None,
    "an unknown dimension": lambda s, _: any(None in x.type.shape for x in s.inputs),
}

ALL_FEATURES = {*_OF_PROGRAM, *_OF_BODY}
