"""What is drawn in bodies wherever a statement may stand: names, values, pushes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.properties.expressions import Expressions
from tests.properties.headers import HeaderDrawing, value_types
from tests.properties.picking import pick, pick_some
from tests.properties.scopes import Scope
from tests.properties.syntax import (
    COUNTS,
    INT32,
    Apply,
    Draw,
    Expression,
    Header,
    Let,
    Push,
    Statement,
    Type,
    Var,
)


class Drawing:
    """Draws what calls nobody, for the bodies of one program.

    Attributes:
        is_linear: The program pushes.
        counts: The program has an effect.
        drawn: The tables whose rows are drawn at random.
        arity: How many children a node may have. Who draws the program sets it.
        num_sure: How many a node has that is no leaf. Set, too.
    """

    arity = 2
    num_sure = 1

    def __init__(
        self,
        headers: HeaderDrawing,
        callable_anywhere: Mapping[str, Header],
        captures: list[Var],
        *,
        drawn: tuple[str, ...] = (),
        counts: bool,
    ) -> None:
        self.draw, self.sizes, self.headers = headers.draw, headers.sizes, headers
        self.tables, self.drawn = dict(headers.tables), drawn
        self.callable, self.captures = dict(callable_anywhere), captures
        self.is_linear, self.counts = bool(self.tables), counts
        self.num_names = 0

    def name(self, kind: Type, prefix: str = "v") -> Var:
        """Returns a new variable."""
        self.num_names += 1
        return Var(f"{prefix}{self.num_names}", kind)

    def expressions(self, scope: Scope) -> Expressions:
        found = Expressions(self.draw, self.sizes, scope.variables)
        found.growing = scope.growing
        return found

    def _pick(self, choices: Any) -> Any:
        return pick(self.draw, choices)

    def results(self, scope: Scope, types: tuple[Type, ...]) -> tuple[Expression, ...]:
        """Draws what a block gives."""
        expressions = self.expressions(scope)
        return tuple(expressions.bounded(kind) for kind in types)

    def _types(self, pool: list[Type]) -> tuple[Type, ...]:
        return tuple(pick_some(self.draw, pool, 1, 2))

    def _count_of(self, scope: Scope) -> Expression:
        return Apply("row", (COUNTS, scope.node), INT32)

    def _let(self, scope: Scope) -> Statement:
        expressions = self.expressions(scope)
        kind = self._pick(value_types(self.sizes))
        value = expressions.of(kind)
        target = self.name(kind)
        if kind.is_differentiable and not expressions.is_bounded(value):
            scope.growing.add(target.name)
        scope.variables.append(target)
        return Let(target, value)

    def _cell(self, scope: Scope) -> Statement:
        """Draws what most cells begin with: a weight, times two vectors joined."""
        vectors = self._joinable(scope)
        weight = self.expressions(scope).of(self.sizes.wide())
        args = (weight, self._pick(vectors[::-1][:3]), self._pick(vectors[::-1][1:3]))
        target = self.name(self.sizes.vector())
        scope.growing.add(target.name)
        scope.variables.append(target)
        return Let(target, Apply("wide", args, target.type))

    def _joinable(self, scope: Scope) -> list[Var]:
        """Returns bounded vectors that each activation has of its own."""
        found = [v for v in scope.variables if v.type == self.sizes.vector()]
        apart = {v.name for v in self.captures} | scope.growing
        return [v for v in found if v.name not in apart]

    def _push(self, scope: Scope, table: str) -> Statement:
        scope.tables.remove(table)
        if table in self.drawn:
            target = self.name(self.tables[table])
            scope.variables.append(target)
            return Draw(target, table)
        return Push(table, self.expressions(scope).of(self.tables[table]))
