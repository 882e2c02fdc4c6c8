"""What only a push needs, computed after the call for all rows at once.

A body that pushes `dense(h)` multiplies one row, or those of one launch. Nobody waits
for the product. So the body may push `h`, and the product is made once, of the table of
all rows: its matrix, which may be larger than a cache, is read once a root call.

Source: Xu et al., "Cavs: An Efficient Runtime System for Dynamic Neural Networks",
USENIX ATC 2018 (arXiv:1712.04048), section 3.5, "lazy batching". There it is what the
gradients of weights need, too: `batching/differentiate` defers these.
"""

import collections
import dataclasses
from collections.abc import Collection, Iterable, Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.program.definition import Definition
from recursive_tf.python.program.effects import ops_within
from recursive_tf.python.program.graph_copy import GraphCopy, Outside
from recursive_tf.python.tracing.function_graph import PUSH, BodyGraph, owner_of
from recursive_tf.python.tracing.signature import Signature
from recursive_tf.python.tracing.specs import spec_of

# With smaller matrices one more root call takes as long as it saves: they stay in a
# cache from launch to launch (`python -m benchmarks.cavs`).
_LEAST_WEIGHTS = 1 << 18
# What cannot fail where shapes are known, so that an error never names another call.
_ELEMENTS = frozenset(
    (
        *("Abs", "Add", "AddV2", "BiasAdd", "Cast", "Elu", "Erf", "Exp", "Identity"),
        *(
            "LeakyRelu",
            "Log",
            "Log1p",
            "LogSoftmax",
            "Maximum",
            "Minimum",
            "Mul",
            "Neg",
        ),
        *("Pow", "RealDiv", "Reciprocal", "Relu", "Relu6", "Rsqrt", "Selu", "Sigmoid"),
        *("Softmax", "Softplus", "Softsign", "Sqrt", "Square", "SquaredDifference"),
        *("Sub", "Tanh"),
    )
)
# The same, with numbers that say how.
_MOVES = frozenset(
    (
        *("ExpandDims", "Max", "Mean", "Min", "Reshape", "Squeeze", "StridedSlice"),
        *("Sum", "Transpose"),
    )
)
_PRODUCTS = frozenset(("BatchMatMulV2", "MatMul"))


@dataclasses.dataclass(frozen=True)
class LazyPush:
    """A push whose value is computed after the call.

    Attributes:
        op: The push, in a traced body.
        table: The name that the user gave.
        tables: What is pushed instead, by the names of its tables.
        ops: What the body leaves out.
        definition: Computes a row of the user's table of a row of each of `tables`.
    """

    op: tf.Operation
    table: str
    tables: dict[str, tf.Tensor]
    ops: frozenset[tf.Operation]
    definition: Definition

    @property
    def pushed(self) -> str:
        """The name of the table that says which rows were pushed."""
        return f"{self.table}, pushed"


def find_lazy_pushes(
    definitions: Sequence[Definition], used_elsewhere: Collection[int]
) -> list[LazyPush]:
    """Returns the pushes of a program that can wait until its calls have ended.

    Args:
        definitions: The program's. Nothing in it has effects.
        used_elsewhere: The ids of tensors of bodies that other bodies use.
    """
    pushes = [
        (definition, op)
        for definition in definitions
        for op in _pushes_beside_a_large_product(definition.body)
    ]
    if not pushes:
        return []
    counts = collections.Counter(
        op.get_attr("table")
        for definition in definitions
        for op in ops_within(definition.body)
        if op.type == PUSH
    )
    rows = {id(d): _tensors_of_rows(d.body) for d, _ in pushes}
    found = (
        _lazy_push(definition, op, rows[id(definition)], used_elsewhere)
        for definition, op in pushes
        if counts[op.get_attr("table")] == 1
    )
    return [push for push in found if push is not None]


def _pushes_beside_a_large_product(body: BodyGraph) -> list[tf.Operation]:
    """Returns the pushes of a body outside of branches; of most bodies nothing."""
    ops = body.get_operations()
    pushes = [op for op in ops if op.type == PUSH]
    if not pushes or not any(_is_large_product(op) for op in ops):
        return []
    if any(map(tf_compat.has_custom_gradient, ops)):
        return []  # Such a gradient may use any tensor of the body.
    return pushes


def _lazy_push(
    definition: Definition,
    push: tf.Operation,
    rows: Collection[int],
    used_elsewhere: Collection[int],
) -> LazyPush | None:
    """Returns how a push can wait; None if it cannot, or that does not pay."""
    body = definition.body
    _, index, value, size = push.inputs
    wanted = {*used_elsewhere, *map(id, [index, size, *body.outputs])}
    ops = _only_for(push, value, rows, wanted)
    if not any(_is_large_product(op, rows) for op in ops):
        return None
    taken = {
        id(t): t for op in ops for t in op.inputs if id(t) in rows and t.op not in ops
    }
    if not all(_can_be_a_row(tensor) for tensor in [value, *taken.values()]):
        return None
    table = push.get_attr("table").decode()
    names = [table, *(f"{table}, {i}" for i in range(1, len(taken)))]
    return LazyPush(
        push,
        table,
        dict(zip(names, taken.values(), strict=True)),
        frozenset(ops),
        _definition_of(definition, table, value, list(taken.values())),
    )


def _tensors_of_rows(body: BodyGraph) -> set[int]:
    """Returns the ids of what may differ between two invocations of a body."""
    captured = {id(inner) for outer, inner in body.captures if owner_of(outer) is None}
    found: set[int] = set()
    for op in body.get_operations():
        is_row = (
            any(id(output) not in captured for output in op.outputs)
            if op.type == "Placeholder"
            else _is_of_rows(op, found)
        )
        if is_row:
            found.update(map(id, op.outputs))
    return found


def _is_of_rows(op: tf.Operation, rows: Collection[int]) -> bool:
    if any(id(tensor) in rows for tensor in op.inputs):
        return True
    is_known = op.type == "ReadVariableOp" or not tf_compat.is_stateful(op)
    return not is_known or bool(tf_compat.function_names(op))


def _only_for(
    push: tf.Operation,
    value: tf.Tensor,
    rows: Collection[int],
    wanted: Collection[int],
) -> set[tf.Operation]:
    """Returns the ops that compute a push's value, and nothing that others need."""
    found: set[tf.Operation] = set()
    candidates = {value.op}
    for op in reversed(value.graph.get_operations()):
        if op not in candidates or not _may_wait(op, rows, wanted):
            continue
        if all(user in found or user is push for user in _users(op)):
            found.add(op)
            candidates.update(tensor.op for tensor in op.inputs)
    return found


def _users(op: tf.Operation) -> Iterable[tf.Operation]:
    return (user for output in op.outputs for user in output.consumers())


def _may_wait(op: tf.Operation, rows: Collection[int], wanted: Collection[int]) -> bool:
    """Says whether an op computes something of rows, cannot fail, and is not wanted."""
    if any(id(t) in wanted or id(t) not in rows for t in op.outputs):
        return False
    if not all(t.shape.is_fully_defined() for t in [*op.inputs, *op.outputs]):
        return False
    if op.type in _MOVES:
        return all(id(parameter) not in rows for parameter in list(op.inputs)[1:])
    return op.type in _ELEMENTS or op.type in _PRODUCTS


def _is_large_product(op: tf.Operation, rows: Collection[int] = ()) -> bool:
    """Says whether an op is a product with a matrix that no cache keeps."""
    return op.type in _PRODUCTS and any(
        (tensor.shape.num_elements() or 0) >= _LEAST_WEIGHTS and id(tensor) not in rows
        for tensor in op.inputs
    )


def _can_be_a_row(tensor: tf.Tensor) -> bool:
    is_number = tensor.dtype.is_floating or tensor.dtype.is_integer
    return bool(is_number and tensor.shape.is_fully_defined())


class _Captured(Outside):
    """What a body takes of the outside, taken by another body."""

    def __init__(self, body: BodyGraph, target: BodyGraph) -> None:
        self._outer = {id(inner): outer for outer, inner in body.captures}
        self._target = target

    def is_leaf(self, tensor: tf.Tensor) -> bool:
        return id(tensor) in self._outer

    def add_leaf(self, tensor: tf.Tensor) -> tf.Tensor:
        captured: tf.Tensor = self._target.capture(self._outer[id(tensor)])
        return captured


def _definition_of(
    around: Definition, table: str, value: tf.Tensor, rows: Sequence[tf.Tensor]
) -> Definition:
    """Returns a SubGraph of `rows` that computes `value`."""
    name = f"{around.name}: push '{table}'"
    body, signature = BodyGraph(name), Signature(name)
    copy = GraphCopy(around.body, body, outside=_Captured(around.body, body))
    for tensor in rows:
        spec = spec_of(tensor)
        copy.bind(tensor, body.add_input(spec, "row"))
        signature.inputs.append(spec)
        signature.names.append(None)
    copy.copy_needed([value])
    body.outputs = [copy.resolve(value)]
    signature.outputs = spec_of(value)
    handles = {id(outer) for outer, _ in body.captures}
    for variable in tf_compat.watched_variables(around.body):
        if id(variable.handle) in handles:
            body.watch_variable(variable)
    return Definition(-around.id, name, body, signature)
