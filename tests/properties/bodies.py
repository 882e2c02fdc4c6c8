"""Draws the bodies of SubGraphs: well-typed, and ending, whatever is drawn.

A SubGraph that walks the tree calls only for children, and one that counts down calls
with less fuel. In a program that pushes, no path through a body hands a child to two
calls, so that no row is pushed twice, and no loop calls what may push, as that has no
gradient.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.properties.calls import MAX_NESTING, CallDrawing, shapes_of
from tests.properties.headers import fixed_types, value_types
from tests.properties.scopes import Scope
from tests.properties.syntax import (
    INT32,
    Apply,
    Block,
    Conditional,
    Const,
    Count,
    Define,
    Expression,
    Header,
    Loop,
    Statement,
    SubGraph,
    Type,
)


class BodyDrawing(CallDrawing):
    """Draws SubGraphs of one program."""

    def subgraph(self, header: Header, around: Scope | None = None) -> SubGraph:
        """Draws the SubGraph of a header; `around` is where it is defined."""
        inputs = tuple(self.name(kind, "a") for kind in header.inputs)
        node = self.name(INT32, "node")
        fuel = self.name(INT32, "fuel") if header.kind == "fuel" else None
        variables = list(self.captures) if around is None else list(around.variables)
        known = {**(self.callable if around is None else around.callable)}
        known[header.name] = header
        found = {name: h for name, h in known.items() if self._may_call(header, h)}
        scope = Scope(
            header=header,
            node=node,
            fuel=fuel,
            variables=[*variables, node, *([fuel] if fuel else []), *inputs],
            growing=set() if around is None else set(around.growing),
            callable=found,
            children=[],
            num_known=0,
            tables=list(header.pushes),
            helpers=[name for name, h in found.items() if h.kind == "plain"],
            nesting=0,
            may_define=around is None and header.kind == "tree",
        )
        body = getattr(self, f"_{header.kind}_body")(scope)
        return SubGraph(header, node, fuel, inputs, body)

    # --- Bodies

    def _tree_body(self, scope: Scope) -> Block:
        statements = self.statements(scope, most=2)
        dispatches = [self._by_leaf, self._by_inner, self._by_count]
        if self._stackable(scope, "tree", "shared"):
            dispatches.append(self._by_map)
        if not self.is_linear and None not in shapes_of(scope.header.outputs):
            dispatches.append(self._by_loop)
        statements.append(self._pick(dispatches)(scope))
        return self._finish(scope, statements)

    _shared_body = _tree_body

    def _fuel_body(self, scope: Scope) -> Block:
        assert scope.fuel is not None
        statements = self.statements(scope, most=1)
        is_done = Apply("less", (scope.fuel, Const(1, INT32)), Type("bool"))
        step = scope.inside()
        calls = [self._countdown(step) for _ in range(self._pick([1, 1, 2]))]
        statements.append(
            self._conditional(
                scope,
                scope.header.outputs,
                is_done,
                [(step, calls), (self._base(scope), [])],
            )
        )
        return self._finish(scope, statements)

    def _plain_body(self, scope: Scope) -> Block:
        return self._finish(scope, self.statements(scope, most=3))

    def _base(self, scope: Scope) -> Scope:
        """Returns the scope of a branch where the recursion ends."""
        if scope.header.kind in ("tree", "shared"):
            return scope.inside()
        return scope.inside(callable={}, helpers=[])

    def _finish(self, scope: Scope, statements: list[Statement]) -> Block:
        last = statements[-1] if statements else None
        is_short = isinstance(last, (Conditional, Loop)) and self._pick(
            [True, True, False]
        )
        if not is_short:
            statements += self.statements(scope, most=1)
        for table in list(scope.tables):
            if self._pick([True, True, False]):
                statements.append(self._push(scope, table))
        if is_short and _types_of(last) == scope.header.outputs:
            return Block(tuple(statements), last.targets)
        return Block(tuple(statements), self.results(scope, scope.header.outputs))

    # --- How a tree is taken apart

    def _by_leaf(self, scope: Scope) -> Statement:
        return self._dispatch(scope, "less", leaf_first=False)

    def _by_inner(self, scope: Scope) -> Statement:
        return self._dispatch(scope, "more", leaf_first=True)

    def _dispatch(self, scope: Scope, how: str, *, leaf_first: bool) -> Statement:
        count, one = self._count_of(scope), Const(1, INT32)
        zero = Const(0, INT32)
        args = (count, one) if how == "less" else (zero, count)
        selector = Apply("less", args, Type("bool"))
        inner = self._with_children(scope, self.num_sure)
        pair = [(inner, self._calls(inner)), (self._base(scope), [])]
        branches = pair[::-1] if leaf_first else pair
        return self._conditional(scope, scope.header.outputs, selector, branches)

    def _by_count(self, scope: Scope) -> Statement:
        branches = []
        for known in range(self.arity + 1):
            branch = self._with_children(scope, known)
            branches.append((branch, self._calls(branch)))
        return self._conditional(
            scope, scope.header.outputs, self._count_of(scope), branches
        )

    def _by_loop(self, scope: Scope) -> Statement:
        return self._loop(scope, scope.header.outputs, self._count_of(scope), True)

    def _by_map(self, scope: Scope) -> Statement:
        return self._map(scope, self._pick(self._stackable(scope, "tree", "shared")))

    def _with_children(self, scope: Scope, known: int) -> Scope:
        # A branch beside this one may have had them: none is handed out twice.
        first = scope.num_given if self.is_linear else scope.num_known
        new: list[Expression] = [Const(k, INT32) for k in range(first, known)]
        return scope.inside(
            num_known=known,
            num_given=max(known, scope.num_given),
            children=scope.children + new,
        )

    # --- Statements

    def statements(self, scope: Scope, most: int) -> list[Statement]:
        """Draws some statements, and puts what they define in scope."""
        count = self.draw(st.integers(0, most))
        return [self._statement(scope) for _ in range(count)]

    def _statement(self, scope: Scope) -> Statement:
        kinds: list[Any] = [self._let, self._let, *self._kinds_of_calls(scope)]
        if len(self._joinable(scope)) > 1:
            kinds += [self._cell] * 2
        if scope.nesting < MAX_NESTING:
            kinds += [self._nested_conditional, self._nested_switch, self._nested_loop]
            if 0 < scope.num_known < self.arity:
                kinds += [self._if_more_children] * 2
        if scope.tables:
            kinds.append(lambda s: self._push(s, s.tables[0]))
        if self.counts:
            kinds.append(lambda _: Count())
        if scope.may_define:
            kinds.append(self._define)
        return self._pick(kinds)(scope)

    def _define(self, scope: Scope) -> Statement:
        kind = self._pick(["fuel", "tree"])
        name = self.name(INT32, "local").name
        header = self.headers.header(name, kind, is_fixed=False)
        subgraph = self.subgraph(header, scope)
        scope.callable[name] = header
        scope.may_define = False
        return Define(subgraph)

    # --- Branches and loops

    def _conditional(
        self,
        scope: Scope,
        types: tuple[Type, ...],
        selector: Expression,
        branches: list[tuple[Scope, list[Statement]]],
    ) -> Statement:
        """Draws a conditional whose branches begin with some statements."""
        blocks = []
        for branch, first in branches:
            statements = first + self.statements(branch, most=2)
            blocks.append(Block(tuple(statements), self.results(branch, types)))
        scope.keep_what_is_left_in([branch for branch, _ in branches])
        targets = tuple(self.name(kind) for kind in types)
        scope.variables.extend(targets)
        return Conditional(targets, selector, tuple(blocks))

    def _nested_conditional(self, scope: Scope) -> Statement:
        selector = self.expressions(scope).of(Type("bool"))
        branches = [(scope.inside(), []), (scope.inside(), [])]
        types = self._types(value_types(self.sizes))
        return self._conditional(scope, types, selector, branches)

    def _nested_switch(self, scope: Scope) -> Statement:
        """What is out of range takes the last branch."""
        selector = self.expressions(scope).of(INT32)
        branches = [(scope.inside(), []) for _ in range(self._pick([2, 1, 3]))]
        types = self._types(value_types(self.sizes))
        return self._conditional(scope, types, selector, branches)

    def _if_more_children(self, scope: Scope) -> Statement:
        known = scope.num_known
        args = (Const(known, INT32), self._count_of(scope))
        more = self._with_children(scope, known + 1)
        branches = [(scope.inside(), []), (more, self._calls(more))]
        types = self._types(value_types(self.sizes))
        return self._conditional(
            scope, types, Apply("less", args, Type("bool")), branches
        )

    def _nested_loop(self, scope: Scope) -> Statement:
        walks = scope.header.kind in ("tree", "shared")
        over_children = walks and not self.is_linear
        over_children = over_children and self._pick([True, False])
        count = self._count_of(scope)
        if not over_children:
            count = self._pick([Const(2, INT32), self._drawn_fuel(scope)])
        types = self._types(fixed_types(self.sizes))
        return self._loop(scope, types, count, over_children)

    def _loop(
        self,
        scope: Scope,
        types: tuple[Type, ...],
        count: Expression,
        over_children: bool,
    ) -> Statement:
        start = self.results(scope, types)
        index = self.name(INT32, "i")
        carried = tuple(self.name(kind) for kind in types)
        # A push in a loop has no gradient, nor has one by a callee.
        pure = {n: h for n, h in scope.callable.items() if self._may_loop(h)}
        inside = scope.inside(
            variables=[*scope.variables, index, *carried],
            callable=pure,
            children=[index] if over_children else [],
            tables=[],
            helpers=[name for name in scope.helpers if name in pure],
            may_define=scope.may_define and not self.is_linear,
        )
        if not self._callees(inside, "tree", "shared"):
            inside.children = []
        first = [self._visit(inside)] if inside.children else []
        statements = first + self.statements(inside, most=1)
        step = Block(tuple(statements), self.results(inside, types))
        targets = tuple(self.name(kind) for kind in types)
        scope.variables.extend(targets)
        return Loop(targets, index, count, carried, start, step)


def _types_of(statement: Any) -> tuple[Type, ...]:
    return tuple(target.type for target in statement.targets)
