"""The text of a body of a random program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.properties.operations import OPERATIONS
from tests.properties.syntax import (
    Apply,
    Block,
    Call,
    Conditional,
    Const,
    Define,
    Draw,
    Expression,
    Header,
    Let,
    Loop,
    Map,
    Push,
    Statement,
    SubGraph,
    Type,
    Var,
)


def declaration(header: Header) -> str:
    signature = ""
    if header.is_declared:
        specs = header.nest.text.format(*map(spec_text, header.outputs))
        signature = f", output_signature={specs}"
    if header.kind == "shared":
        signature += f", memo={_key_text(header)}"
    return f'{header.name} = rtf.SubGraph("{header.name}"{signature}, **CHOICES)'


def _key_text(header: Header) -> str:
    if not header.inputs:
        return "lambda node: node"
    path = "" if header.packed is None else header.packed.paths[0]
    return f"lambda node, x: 2 * node + tf.cast(x{path}, tf.int32)"


class BodyText:
    """Writes one SubGraph."""

    def __init__(
        self,
        subgraph: SubGraph,
        headers: Mapping[str, Header],
        captured: frozenset[str],
    ) -> None:
        self.subgraph = subgraph
        self.header, self.node = subgraph.header, subgraph.node.name
        self.headers = {**headers, subgraph.header.name: subgraph.header}
        self.captured = captured

    def definition(self) -> Iterator[str]:
        yield f"with {self.header.name}:"
        yield from indented(self._lines())

    def _lines(self) -> Iterator[str]:
        name, subgraph = self.header.name, self.subgraph
        yield f"{self.node} = {name}.input(tf.int32)"
        if subgraph.fuel is not None:
            yield f"{subgraph.fuel.name} = {name}.input(tf.int32)"
        yield from self._inputs()
        yield from self._statements(subgraph.body)
        results = [self._result(x) for x in subgraph.body.results]
        yield f"{name}.output({self.header.nest.text.format(*results)})"

    def _inputs(self) -> Iterator[str]:
        name, inputs = self.header.name, self.subgraph.inputs
        if self.header.packed is None:
            for x in inputs:
                yield f"{x.name} = {name}.input({spec_text(x.type)})"
            return
        specs = self.header.packed.text.format(*(spec_text(x.type) for x in inputs))
        yield f"packed = {name}.input({specs})"
        for x, path in zip(inputs, self.header.packed.paths, strict=True):
            yield f"{x.name} = packed{path}"

    def _statements(self, block: Block) -> Iterator[str]:
        for statement in block.statements:
            yield from self._statement(statement)

    def _statement(self, statement: Statement) -> Iterator[str]:
        match statement:
            case Let(target, value):
                yield f"{target.name} = {self._result(value)}"
            case Call():
                yield from self._call(statement)
            case Map():
                yield from self._map(statement)
            case Conditional():
                yield from self._conditional(statement)
            case Loop():
                yield from self._loop(statement)
            case Push(table, value):
                yield self._push(table, self._text(value))
            case Draw(target, table):
                kind = target.type
                yield f"{target.name} = draw({shape_text(kind)}, tf.{kind.dtype})"
                yield self._push(table, target.name)
            case Define(subgraph):
                self.headers = {**self.headers, subgraph.header.name: subgraph.header}
                yield declaration(subgraph.header)
                yield from BodyText(subgraph, self.headers, self.captured).definition()
            case _:
                yield "counter.assign_add(1)"

    def _push(self, table: str, text: str) -> str:
        where = f"index={self.node}, size=tf.size(counts)"
        return f"{self.header.name}.push({table!r}, {text}, {where})"

    def _map(self, call: Map) -> Iterator[str]:
        header = self.headers[call.callee]
        of, rows = f"of_{call.targets[0].name}", f"rows_{call.targets[0].name}"
        yield f"{rows} = children[{self.node}][: counts[{self.node}]]"
        args = [*([] if call.fuel is None else [call.fuel]), *call.args]
        if call.is_loop:
            # A function that does more than to call is a loop, not a map.
            names = [f"x{i}_{of}" for i in range(len(args))]
            for name, arg in zip(names, args, strict=True):
                yield f"{name} = {self._result(arg)}"
            texts = packed_text(header, names)
            yield f"turn_{of} = lambda row: {call.callee}({', '.join(['row', *texts])})"
            specs = header.nest.text.format(*map(spec_text, header.outputs))
            yield f"{of} = tf.map_fn(turn_{of}, {rows}, fn_output_signature={specs})"
        else:
            texts = [f"for_each({rows}, {self._text(arg)})" for arg in args]
            texts = packed_text(header, texts)
            yield f"{of} = {call.callee}.map({', '.join([rows, *texts])})"
        for target, path in zip(call.targets, header.nest.paths, strict=True):
            yield f"{target.name} = sum_of({of}{path})"

    def _call(self, call: Call) -> Iterator[str]:
        header = self.headers[call.callee]
        node = self.node
        if call.child is not None:
            node = f"children[{node}, {self._text(call.child)}]"
        args = [] if call.fuel is None else [self._text(call.fuel)]
        args += packed_text(header, [self._text(arg) for arg in call.args])
        result = f"of_{call.targets[0].name}"
        yield f"{result} = {call.callee}({', '.join([node, *args])})"
        for target, path in zip(call.targets, header.nest.paths, strict=True):
            yield f"{target.name} = {result}{path}"

    def _conditional(self, conditional: Conditional) -> Iterator[str]:
        names = [
            f"branch_{i}_{conditional.targets[0].name}"
            for i in range(len(conditional.branches))
        ]
        for name, branch in zip(names, conditional.branches, strict=True):
            yield f"def {name}():"
            yield from indented(self._function(branch))
        selector = self._result(conditional.selector)
        targets = _tuple(target.name for target in conditional.targets)
        if conditional.selector.type.dtype == "bool":
            yield f"{targets} = tf.cond({selector}, {names[1]}, {names[0]})"
        else:
            yield f"{targets} = tf.switch_case({selector}, [{', '.join(names)}])"

    def _function(self, block: Block) -> Iterator[str]:
        yield from self._statements(block)
        yield f"return {_tuple(self._result(x) for x in block.results)}"

    def _loop(self, loop: Loop) -> Iterator[str]:
        name, index = f"step_{loop.targets[0].name}", loop.index.name
        carried = ", ".join(var.name for var in loop.carried)
        yield f"def {name}({index}, {carried}):"
        results = ", ".join(self._result(x) for x in loop.step.results)
        yield from indented(self._statements(loop.step))
        yield f"    return {index} + 1, {results}"
        more = f"lambda {index}, *_: {index} < {self._text(loop.count)}"
        start = ", ".join(self._result(x) for x in loop.start)
        targets = ", ".join(target.name for target in loop.targets)
        yield f"_, {targets} = tf.while_loop({more}, {name}, (0, {start}))"

    def _result(self, expression: Expression) -> str:
        """Returns text for what a function or a body returns: never a variable."""
        text = self._text(expression)
        return f"tf.identity({text})" if text in self.captured else text

    def _text(self, expression: Expression) -> str:
        match expression:
            case Var(name):
                return name
            case Const(value, Type(dtype, shape)):
                long = [1 if n is None else n for n in shape]
                of_shape = f", {long}" if shape else ""
                return f"tf.constant({value!r}, tf.{dtype}{of_shape})"
            case Apply(name, args, kind):
                texts = [self._text(arg) for arg in args]
                rows = args[0].type.shape[0] if args[0].type.shape else None
                return OPERATIONS[name].text.format(
                    *texts, all=", ".join(texts), dtype=kind.dtype, n=rows
                )
        raise TypeError(expression)


def packed_text(header: Header, texts: list[str]) -> list[str]:
    """Returns the arguments of a call: after any fuel, perhaps one structure."""
    if header.packed is None:
        return texts
    count = len(header.packed.paths)
    return [*texts[:-count], header.packed.text.format(*texts[-count:])]


def spec_text(kind: Type) -> str:
    return f"tf.TensorSpec({shape_text(kind)}, tf.{kind.dtype})"


def shape_text(kind: Type) -> str:
    return str(list(kind.shape))


def _tuple(texts: Any) -> str:
    return f"({', '.join(texts)},)"


def indented(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield "    " + line
