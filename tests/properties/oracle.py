"""The oracle: runs a program over a forest step by step, and differentiates it.

It knows no TensorFlow, no graph and no path: a call is a Python call, a conditional is
an `if`, and the gradient goes back over a list of everything that was computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tests.properties.operations import Array, Operation
from tests.properties.syntax import (
    CHILDREN,
    COUNTS,
    Apply,
    Block,
    Call,
    Conditional,
    Const,
    Define,
    Draw,
    Expression,
    Let,
    Loop,
    Map,
    Program,
    Push,
    SubGraph,
    Type,
    Var,
)

# For each node of a small forest, and of a large one.
MAX_INVOCATIONS, MAX_INVOCATIONS_A_NODE = 100, 4
MAX_ELEMENTS = 1000


class TooLarge(Exception):  # noqa: N818  # It is no error.
    """The program takes too long on this forest, or builds too long a list."""


class Value:
    """An array, and its cotangent once there is one."""

    def __init__(self, data: Any) -> None:
        self.data: Array = np.asarray(data)
        self.cotangent: Any = None

    def add(self, cotangent: Any) -> None:
        """Adds to the cotangent; undoes broadcasting; integers have none."""
        if cotangent is None or self.data.dtype.kind not in "fc":
            return
        if np.shape(cotangent) != self.data.shape:
            cotangent = self._unbroadcast(cotangent)
        self.cotangent = (
            cotangent if self.cotangent is None else self.cotangent + cotangent
        )

    def _unbroadcast(self, cotangent: Any) -> Any:
        extra = np.ndim(cotangent) - self.data.ndim
        cotangent = np.sum(cotangent, tuple(range(extra)))
        ones = tuple(i for i, n in enumerate(self.data.shape) if n == 1)
        return np.sum(cotangent, ones, keepdims=True)


Environment = dict[str, Any]  # Of values, and of the SubGraphs with what is around.


class Run:
    """One root call: values first, then `differentiate`."""

    def __init__(
        self,
        program: Program,
        values: Mapping[str, Array],
        operations: Mapping[str, Operation],
    ) -> None:
        self.program, self.operations = program, operations
        self.steps: list[tuple[Value, list[Value], Operation]] = []
        self.num_invocations = self.counter = 0
        self.shared: dict[tuple[Any, ...], list[Value]] = {}
        self.rows: dict[str, dict[int, Value]] = {
            name: {} for name, _ in program.tables
        }
        self.globals: Environment = {name: Value(x) for name, x in values.items()}
        for subgraph in program.subgraphs:
            self.globals[subgraph.header.name] = (subgraph, self.globals)
        self.num_nodes = len(values[COUNTS.name])
        self.most = max(MAX_INVOCATIONS, MAX_INVOCATIONS_A_NODE * self.num_nodes)
        self.roots = np.atleast_1d(values["root"])
        self.arguments = [
            [self._argument(x, row) for x in program.arguments]
            for row in range(len(self.roots))
        ]
        self.outputs = [
            self.invoke(program.root.name, self.globals, Value(root), None, row)
            for root, row in zip(self.roots, self.arguments, strict=True)
        ]

    def _argument(self, x: Var, row: int) -> Value:
        given = self.globals[x.name]
        return Value(given.data[row]) if self.program.is_mapped else given

    # --- Values

    def invoke(
        self,
        name: str,
        around: Environment,
        node: Value,
        fuel: Value | None,
        args: Sequence[Value],
    ) -> list[Value]:
        """Runs a SubGraph, as it is seen from `around`."""
        subgraph, defined_in = around[name]
        if subgraph.header.kind != "shared":
            return self._body(subgraph, defined_in, node, fuel, args)
        key = (name, int(node.data), *(bool(x.data) for x in args))
        if key not in self.shared:
            self.shared[key] = self._body(subgraph, defined_in, node, fuel, args)
        return self.shared[key]

    def _body(
        self,
        subgraph: SubGraph,
        defined_in: Environment,
        node: Value,
        fuel: Value | None,
        args: Sequence[Value],
    ) -> list[Value]:
        self.num_invocations += 1
        if self.num_invocations > self.most:
            raise TooLarge
        here = dict(defined_in)
        here[subgraph.node.name] = node
        if subgraph.fuel is not None:
            here[subgraph.fuel.name] = fuel
        for var, value in zip(subgraph.inputs, args, strict=True):
            here[var.name] = value
        return self.block(subgraph.body, here, subgraph)

    def block(self, block: Block, here: Environment, owner: SubGraph) -> list[Value]:
        """Runs statements; `here` gets what they define."""
        for statement in block.statements:
            getattr(self, f"_{type(statement).__name__.lower()}")(
                statement, here, owner
            )
        return [self.value(result, here) for result in block.results]

    def value(self, expression: Expression, here: Environment) -> Value:
        """Evaluates an expression."""
        match expression:
            case Var(name):
                return here[name]
            case Const(value, kind):
                shape = [1 if n is None else n for n in kind.shape]
                return Value(np.full(shape, value))
            case Apply(name, args, kind):
                values = [self.value(arg, here) for arg in args]
                return self._apply(name, kind, values)
        raise TypeError(expression)

    def _apply(self, name: str, kind: Type, values: list[Value]) -> Value:
        operation = self.operations[name]
        result = Value(operation.value(kind, *[x.data for x in values]))
        if result.data.size > MAX_ELEMENTS:
            raise TooLarge
        self.steps.append((result, values, operation))
        return result

    def _bind(
        self, targets: Sequence[Var], values: Sequence[Value], here: Environment
    ) -> None:
        for target, value in zip(targets, values, strict=True):
            here[target.name] = value

    def _let(self, let: Let, here: Environment, _: SubGraph) -> None:
        here[let.target.name] = self.value(let.value, here)

    def _call(self, call: Call, here: Environment, owner: SubGraph) -> None:
        node = here[owner.node.name]
        if call.child is not None:
            child = int(self.value(call.child, here).data)
            node = Value(here[CHILDREN.name].data[int(node.data), child])
        fuel = None if call.fuel is None else self.value(call.fuel, here)
        args = [self.value(arg, here) for arg in call.args]
        self._bind(call.targets, self.invoke(call.callee, here, node, fuel, args), here)

    def _map(self, call: Map, here: Environment, owner: SubGraph) -> None:
        node = int(here[owner.node.name].data)
        fuel = None if call.fuel is None else self.value(call.fuel, here)
        args = [self.value(arg, here) for arg in call.args]
        children = here[CHILDREN.name].data[node, : here[COUNTS.name].data[node]]
        rows = [
            self.invoke(call.callee, here, Value(child), fuel, args)
            for child in children
        ]
        for i, target in enumerate(call.targets):
            here[target.name] = self._sum(target.type, [row[i] for row in rows])

    def _sum(self, kind: Type, rows: list[Value]) -> Value:
        if kind.is_differentiable:
            total = Value(np.zeros([int(n or 0) for n in kind.shape]))
            for row in rows:
                total = self._apply("add", kind, [total, row])
            return total
        zero = np.zeros([int(n or 0) for n in kind.shape], np.int64)
        total = sum((row.data for row in rows), zero)
        return Value(total > 0 if kind.dtype == "bool" else total % 7)

    def _conditional(
        self, conditional: Conditional, here: Environment, owner: SubGraph
    ) -> None:
        taken = int(self.value(conditional.selector, here).data)
        # As `tf.switch_case`: what is out of range takes the last branch.
        if not 0 <= taken < len(conditional.branches):
            taken = len(conditional.branches) - 1
        results = self.block(conditional.branches[taken], dict(here), owner)
        self._bind(conditional.targets, results, here)

    def _loop(self, loop: Loop, here: Environment, owner: SubGraph) -> None:
        carried = [self.value(start, here) for start in loop.start]
        for index in range(int(self.value(loop.count, here).data)):
            inside = {**here, loop.index.name: Value(index)}
            self._bind(loop.carried, carried, inside)
            carried = self.block(loop.step, inside, owner)
        self._bind(loop.targets, carried, here)

    def _push(self, push: Push, here: Environment, owner: SubGraph) -> None:
        row = int(here[owner.node.name].data)
        assert row not in self.rows[push.table], "The program pushes a row twice."
        self.rows[push.table][row] = self.value(push.value, here)

    def _draw(self, draw: Draw, here: Environment, owner: SubGraph) -> None:
        row = int(here[owner.node.name].data)
        here[draw.target.name] = Value(self.globals[draw.table].data[row])
        self.rows[draw.table][row] = here[draw.target.name]

    def _count(self, *_: Any) -> None:
        self.counter += 1

    def _define(self, define: Define, here: Environment, _: SubGraph) -> None:
        # The SubGraph sees itself, and what is here so far.
        inside = dict(here)
        inside[define.subgraph.header.name] = (define.subgraph, inside)
        here[define.subgraph.header.name] = (define.subgraph, inside)

    # --- Results

    def tables(self) -> dict[str, Array]:
        """Returns what was pushed; rows that nobody pushed are zero."""
        found = {}
        for name, kind in self.program.tables:
            dtype: Any = "f8" if kind.is_differentiable else "i8"
            pushed = [value.data.dtype for value in self.rows[name].values()]
            dtype = np.result_type(bool if kind.dtype == "bool" else dtype, *pushed)
            found[name] = np.zeros([self.num_nodes, *kind.shape], dtype)
            for row, value in self.rows[name].items():
                found[name][row] = value.data
        return found

    def columns(self) -> list[Array]:
        """Returns the outputs of the root call."""
        types = self.program.root.outputs
        if not self.program.is_mapped:
            return [value.data for value in self.outputs[0]]
        return [
            np.array([row[i].data for row in self.outputs]).reshape(
                [len(self.roots), *kind.shape]
            )
            for i, kind in enumerate(types)
        ]

    def loss(self) -> float:
        """Returns the sum of all floats, each with a weight of its own."""
        return sum(
            float(np.sum((x.data * np.conj(weight)).real))
            for x, weight in self._weighted()
        )

    def differentiate(self) -> None:
        """Gives every value that the loss depends on its cotangent."""
        for value, weight in self._weighted():
            self.add(value, weight)
        for result, args, operation in reversed(self.steps):
            if result.cotangent is None or operation.derivative is None:
                continue
            data = [x.data for x in args]
            found = operation.derivative(result.cotangent, result.data, *data)
            for arg, cotangent in zip(args, found, strict=True):
                self.add(arg, cotangent)

    def add(self, value: Value, cotangent: Any) -> None:
        """Adds to the cotangent of a value."""
        value.add(cotangent)

    def _weighted(self) -> Iterator[tuple[Value, Array]]:
        """Yields every value in the loss, with its weights: see `source.LOSS`."""
        columns, tables = self.columns(), self.tables()
        types, kinds = self.program.root.outputs, dict(self.program.tables)
        for i, column in enumerate(columns):
            for row, values in enumerate(self.outputs):
                weights = loss_weights(i, column)
                if column.dtype.kind in "fc":
                    weight = weights[row] if self.program.is_mapped else weights
                    yield values[i], self._weight(weight, types[i])
        for i, (name, table) in enumerate(tables.items(), len(columns)):
            weights, kind = loss_weights(i, table), kinds[name]
            for row, value in self.rows[name].items():
                if table.dtype.kind in "fc":
                    yield value, self._weight(weights[row], kind)

    def _weight(self, weight: Array, kind: Type) -> Array:
        """The loss takes half of an imaginary part."""
        return weight * (1 + 0.5j) if kind.is_complex else weight

    def gradient(self, source: Var) -> Array | None:
        """Returns the loss's gradient; None if the program does not mention it."""
        if source in self.program.arguments:
            values = [
                row[self.program.arguments.index(source)] for row in self.arguments
            ]
            found = [_gradient_of(value) for value in values]
            if not self.program.is_mapped:
                return found[0]
            return np.reshape(found, self.globals[source.name].data.shape)
        if source not in self.program.mentioned:
            return None
        return _gradient_of(self.globals[source.name])


def _gradient_of(value: Value) -> Array:
    if value.cotangent is None:
        return np.zeros(value.data.shape)
    return np.asarray(value.cotangent)


def loss_weights(position: int, like: Array) -> Array:
    """Returns what the loss multiplies the result at `position` by."""
    weights: Array = np.sin(1.7 * np.arange(like.size) + position)
    return weights.reshape(like.shape)
