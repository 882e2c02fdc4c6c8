"""What each pass of the batched executor's compiler makes of a program, op by op.

Each text has a line an op, `%5 float32[3] = Mul(%3, 2.0)`: what it gives, its type, and
what it takes. A value has one number in a text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import tensorflow as tf

from recursive_tf.python.batching.compilation import Compilation
from recursive_tf.python.batching.flatten.flat_program import (
    FlatProcedure,
    FlatProgram,
    Wait,
)
from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.program.graph_copy import CONDITIONALS, LOOPS, branch_graphs
from recursive_tf.python.tf_compat import FuncGraph
from recursive_tf.python.tracing.specs import format_spec, spec_of

# Of a constant, what a line has room for.
_MOST_ELEMENTS = 8
_BRANCHES = ("if true", "if false")
_PARTS = ("while", "do")
# Where an attribute has its value.
_FIELDS = {"bool": "b", "float": "f", "int": "i", "string": "s"}


def passes_in_words(
    graphs: Sequence[FuncGraph], names: Sequence[str], compilation: Compilation | None
) -> dict[str, str]:
    """Returns a text for each pass, in their order.

    Args:
        graphs: The closed procedures.
        names: Of the SubGraphs.
        compilation: What was compiled of them; None if they are not batched.
    """
    found = {"closed": _texts(zip(names, graphs, strict=True))}
    if compilation is None:
        return found
    called = compilation.names_with(names)
    found["flattened"] = _flat_program(compilation.program, called.procedures)
    blocks = called.blocks
    functions = [f.graph for f in compilation.inference.functions]
    prologue = _graph(
        "prologue", compilation.prologue.graph, compilation.outputs.tensors
    )
    found["vectorized"] = "\n".join(
        [*prologue, _texts(zip(blocks, functions, strict=True))]
    )
    try:
        training = compilation.training()
    except CannotBatchError as error:
        return {**found, "differentiated": f"Not differentiated: {error}"}
    parts = [
        (f"{block}, {part}", graph)
        for block, made in zip(blocks, training.blocks, strict=True)
        for part, graph in (
            ("forward", made.forward),
            ("backward", made.backward),
            ("deferred", made.deferred),
        )
        if graph is not None
    ]
    return {**found, "differentiated": _texts(parts)}


def _texts(graphs: Iterable[tuple[str, FuncGraph]]) -> str:
    return "\n".join(line for name, g in graphs for line in _graph(name, g, g.outputs))


class _Values:
    """Numbers values in the order in which they are named."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def new(self, tensors: Iterable[tf.Tensor]) -> str:
        """Returns the numbers of tensors, with what they are."""
        return ", ".join(f"{self._named(t)} {format_spec(spec_of(t))}" for t in tensors)

    def used(self, tensors: Iterable[tf.Tensor]) -> str:
        """Returns the numbers of tensors, or what they are if they are small."""
        return ", ".join(map(self._used, tensors))

    def _used(self, tensor: tf.Tensor) -> str:
        count = tensor.shape.num_elements()
        if tensor.op.type == "Const" and count is not None and count <= _MOST_ELEMENTS:
            value = static_value(tensor)
            if value is not None:
                return str(value.tolist())
        return self._named(tensor)

    def _named(self, tensor: tf.Tensor) -> str:
        return f"%{self._numbers.setdefault(id(tensor), len(self._numbers))}"


def _graph(
    name: str,
    graph: FuncGraph,
    outputs: Sequence[tf.Tensor],
    values: _Values | None = None,
    indent: str = "",
) -> Iterator[str]:
    """Yields the lines of a graph."""
    values = _Values() if values is None else values
    yield f"{indent}{name}({values.new(graph.inputs)}):"
    inside = indent + "  "
    for op in graph.get_operations():
        if op.type in ("Placeholder", "NoOp"):
            continue
        if op.type == "Const" and values.used(op.outputs)[0] != "%":
            continue
        yield inside + _op(op, list(op.inputs), values)
        if op.type in CONDITIONALS | LOOPS:
            for part, inner in zip(_names_of_parts(op), branch_graphs(op), strict=True):
                yield from _graph(part, inner, inner.outputs, values, inside + "  ")
    if outputs:
        yield f"{inside}return {values.used(outputs)}"


def _names_of_parts(op: tf.Operation) -> Sequence[str]:
    if op.type in LOOPS:
        return _PARTS
    if "Case" in op.type:
        return [f"case {i}" for i in range(len(branch_graphs(op)))]
    return _BRANCHES


def _op(op: tf.Operation, inputs: Sequence[tf.Tensor], values: _Values) -> str:
    takes = ", ".join(filter(None, [values.used(inputs), *_attributes(op)]))
    gives = values.new(op.outputs)
    return f"{gives} = {op.type}({takes})" if gives else f"{op.type}({takes})"


def _attributes(op: tf.Operation) -> Iterator[str]:
    """Yields the attributes that say what an op computes, where they are no default."""
    for attr in op.op_def.attr:
        if attr.type in ("bool", "float", "int", "string"):
            value = op.get_attr(attr.name)
            default = getattr(attr.default_value, _FIELDS[attr.type])
            if not attr.HasField("default_value") or value != default:
                shown = tf.compat.as_str(value) if attr.type == "string" else value
                yield f"{attr.name}={shown}"


def _flat_program(program: FlatProgram, names: Sequence[str]) -> str:
    values = _Values()
    name_of = dict(zip(program.procedures, names, strict=True))
    indices = {index: capture for capture, index in program.captures.items()}
    given = {id(t): t for graph in program.graphs for t in graph.inputs}
    captures = [given[indices[index]] for index in sorted(indices)]
    lines = [f"captures: {values.new(captures)}"] if captures else []
    for procedure in program.procedures:
        lines += _flat_procedure(procedure, program, values, name_of)
    return "\n".join(lines)


def _flat_procedure(
    procedure: FlatProcedure,
    program: FlatProgram,
    values: _Values,
    name_of: Mapping[FlatProcedure, str],
) -> Iterator[str]:
    yield f"{name_of[procedure]}({values.new(procedure.inputs)}):"
    waits = {wait.op: wait for wait in procedure.waits}
    for op in sorted([*procedure.ops, *procedure.pushes, *waits], key=program.order_of):
        is_wait = op in waits
        yield "  " + (
            _wait(waits[op], values, name_of)
            if is_wait
            else _op(op, program.inputs_of(op), values)
        )
    if procedure.turns is not None:
        yield f"  next turn: {values.used(procedure.next_turn)}"
    else:
        yield f"  return {values.used(procedure.outputs)}"


def _wait(wait: Wait, values: _Values, name_of: Mapping[FlatProcedure, str]) -> str:
    branches = " | ".join(name_of[branch] for branch in wait.branches)
    takes = values.used(wait.arguments)
    how = "for each item, " if wait.num_mapped else ""
    if wait.selector is not None:
        how = f"by {values.used([wait.selector])}: "
    if wait.key is not None:
        how = f"once for each {values.used([wait.key])}: "
    gives = values.new(wait.results)
    called = f"wait: {how}{branches}({takes})"
    return f"{gives} = {called}" if gives else called
