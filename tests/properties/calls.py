"""Draws calls: of children, of what is shared, with less fuel, and of maps."""

from __future__ import annotations

from typing import Any

from tests.properties.drawing import Drawing
from tests.properties.scopes import Scope
from tests.properties.syntax import (
    INT32,
    Apply,
    Call,
    Const,
    Expression,
    Header,
    Map,
    Statement,
    Type,
)

MAX_NESTING = 2


class CallDrawing(Drawing):
    """Draws calls too, and says who may call whom."""

    # --- Who may call whom

    def _may_call(self, caller: Header, callee: Header) -> bool:
        if caller.kind == "tree":
            return True
        if caller.kind == "shared":
            return self._may_share(callee)
        if caller.kind == "fuel":
            return callee.kind == "fuel" or self._may_help_anywhere(callee)
        return False

    def _may_share(self, callee: Header) -> bool:
        """What pushes is called for one node once, which is not known of children."""
        return callee.kind in ("shared", "fuel") or not self.is_linear

    def _may_help_anywhere(self, callee: Header) -> bool:
        return callee.kind == "plain" and not self.is_linear

    def _may_loop(self, header: Header) -> bool:
        return not self.is_linear or header.kind in ("fuel", "shared")

    def _callees(self, scope: Scope, *kinds: str) -> list[Header]:
        return [header for header in scope.callable.values() if header.kind in kinds]

    # --- Calls

    def _kinds_of_calls(self, scope: Scope) -> list[Any]:
        kinds: list[Any] = []
        if self._callees(scope, "tree", "shared") and scope.children:
            kinds += [self._visit] * 3
        if self._mapped(scope):
            kinds.append(self._nested_map)
        if scope.header.kind != "shared" and self._callees(scope, "shared"):
            kinds += [self._share] * 2
        if scope.fuel is None and self._callees(scope, "fuel"):
            kinds.append(self._start_countdown)
        if scope.helpers:
            kinds += [self._help] * 2
        return kinds

    def _calls(self, scope: Scope) -> list[Statement]:
        """Draws the calls with which a branch begins: for most of the children."""
        if not self._callees(scope, "tree", "shared"):
            return []
        count = min(len(scope.children), self._pick([2, 1, 3]))
        found = [self._visit(scope) for _ in range(count)]
        if len(self._joinable(scope)) > 1 and self._pick([False, True]):
            found.append(self._cell(scope))
        return found

    def _visit(self, scope: Scope) -> Statement:
        child = self._pick(scope.children)
        if self.is_linear:
            scope.children.remove(child)
        callees = self._callees(scope, "tree", "shared")
        return self._call(scope, self._pick(callees), child, None)

    def _share(self, scope: Scope) -> Statement:
        return self._call(scope, self._pick(self._callees(scope, "shared")), None, None)

    def _start_countdown(self, scope: Scope) -> Statement:
        fuel = self._some_fuel(scope)
        child = self._pick([None, *scope.children])
        return self._call(scope, self._pick(self._callees(scope, "fuel")), child, fuel)

    def _some_fuel(self, scope: Scope) -> Expression:
        drawn = self._drawn_fuel(scope)
        return self._pick([Const(2, INT32), Const(1, INT32), drawn, Const(0, INT32)])

    def _drawn_fuel(self, scope: Scope) -> Expression:
        return Apply("mod_three", (self.expressions(scope).of(INT32, 1),), INT32)

    def _countdown(self, scope: Scope) -> Statement:
        assert scope.fuel is not None
        less = Apply("minus_one", (scope.fuel,), INT32)
        return self._call(scope, self._pick(self._callees(scope, "fuel")), None, less)

    def _help(self, scope: Scope) -> Statement:
        name = self._pick(scope.helpers)
        if self.is_linear:
            scope.helpers.remove(name)
        return self._call(scope, scope.callable[name], None, None)

    def _call(
        self,
        scope: Scope,
        callee: Header,
        child: Expression | None,
        fuel: Expression | None,
    ) -> Statement:
        expressions = self.expressions(scope)
        args = tuple(expressions.bounded(kind, 2) for kind in callee.inputs)
        targets = tuple(self.name(kind) for kind in callee.outputs)
        scope.variables.extend(targets)
        return Call(targets, callee.name, child, fuel, args)

    # --- Maps

    def _mapped(self, scope: Scope) -> list[Header]:
        """Returns what may be mapped over all children, some of which have calls."""
        walks = scope.header.kind in ("tree", "shared")
        if not walks or scope.nesting >= MAX_NESTING:
            return []
        found = self._stackable(scope, "tree", "shared", "fuel")
        return [h for h in found if not self.is_linear or h.kind != "tree"]

    def _stackable(self, scope: Scope, *kinds: str) -> list[Header]:
        """Returns those whose results have one shape."""
        found = self._callees(scope, *kinds)
        return [h for h in found if None not in shapes_of(h.outputs)]

    def _nested_map(self, scope: Scope) -> Statement:
        return self._map(scope, self._pick(self._mapped(scope)))

    def _map(self, scope: Scope, callee: Header) -> Statement:
        fuel = self._some_fuel(scope) if callee.kind == "fuel" else None
        expressions = self.expressions(scope)
        args = tuple(expressions.bounded(kind, 2) for kind in callee.inputs)
        targets = tuple(self.name(kind) for kind in callee.outputs)
        scope.variables.extend(targets)
        scope.growing |= {x.name for x in targets if x.type.is_differentiable}
        # Beside an effect a loop stays one, and a push in it has no gradient.
        stays_loop = self.counts and self.is_linear
        is_loop = not stays_loop and self._pick([False, False, True])
        return Map(targets, callee.name, is_loop, fuel, args)


def shapes_of(types: tuple[Type, ...]) -> list[int | None]:
    return [n for kind in types for n in kind.shape]
