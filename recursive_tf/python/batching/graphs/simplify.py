"""Drafts what a graph with static shapes computes, without what is nothing new."""

import string
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.graphs import draft_ops
from recursive_tf.python.batching.graphs.draft import (
    Draft,
    Drafted,
    DraftGraph,
    Shape,
    Spec,
    placeholder,
    shape_of,
)
from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.program.effects import effects_in, has_effect
from recursive_tf.python.program.reachable import needed_ops
from recursive_tf.python.tf_compat import FuncGraph

# After a graph is differentiated, what stops gradients is a copy too.
_COPIES = frozenset(("Identity", "IdentityN", "PreventGradient", "StopGradient"))
_RESHAPES = frozenset(("ExpandDims", "Reshape", "Squeeze"))
# These give what they take if the shape stays and the type.
_UNCHANGED = _RESHAPES | {
    *("BroadcastTo", "Cast", "Max", "Mean", "Min", "Prod", "Slice", "Sum", "Tile"),
}
# These repeat by themselves what is smaller than the rest.
_BROADCASTING = frozenset(
    (
        *("AddV2", "DivNoNan", "Equal", "Greater", "GreaterEqual", "Less", "LessEqual"),
        *("LogicalAnd", "LogicalOr", "Maximum", "Minimum", "Mul", "MulNoNan"),
        *("NotEqual", "Pow", "RealDiv"),
        *("SelectV2", "SquaredDifference", "Sub"),
    )
)
# What these repeat is this of their inputs.
_REPEATS = {"BroadcastTo": 0, "Fill": 1}


def simplify(graph: FuncGraph) -> "Simplifier":
    """Drafts a graph with static shapes without what computes nothing new.

    Constant expressions become constants. Copies, and what reshapes or repeats what is
    reshaped or repeated anyway, are left out; so is what is there twice.

    Returns:
        What has these drafts, and can be extended by more of what is in `graph`.
    """
    simplifier = Simplifier(graph)
    simplifier.extend(graph.inputs, graph.outputs, effects_in(graph))
    return simplifier


class Simplifier:
    """See `simplify`.

    Attributes:
        drafts: All that there are, in order.
        effects: Those of the effects of the graph, in order.
    """

    def __init__(self, graph: FuncGraph) -> None:
        self._graph = graph
        self.drafts: list[Draft] = []
        self.effects: list[Draft] = []
        # By the id of a tensor of the graph: what it is, and its value if it has one.
        self._drafted: dict[int, Drafted] = {}
        self._constants: dict[int, np.ndarray | None] = {}
        # What there is, by what it is.
        self._known: dict[object, Sequence[Drafted]] = {}

    def extend(
        self,
        inputs: Sequence[tf.Tensor],
        outputs: Sequence[tf.Tensor],
        effects: Sequence[tf.Operation] = (),
    ) -> None:
        """Drafts what `outputs` and `effects` need that is not there already."""
        for tensor in inputs:
            self._drafted[id(tensor)] = placeholder(tensor, shape_of(tensor))
        in_order = set(effects)
        for op in needed_ops(outputs, self._is_given, effects):
            drafted = self._add(op)
            for tensor, value in zip(op.outputs, drafted, strict=True):
                self._drafted[id(tensor)] = value
            if op in in_order:
                self.effects.append(self.drafts[-1])

    def draft_of(self, tensor: tf.Tensor) -> Drafted:
        """Returns what a tensor that some output needs is."""
        if id(tensor) not in self._drafted:
            self._drafted[id(tensor)] = self._leaf(tensor)
        return self._drafted[id(tensor)]

    def drafts_of(self, tensors: Sequence[tf.Tensor]) -> list[Drafted]:
        """Returns the same of several."""
        return [self.draft_of(tensor) for tensor in tensors]

    def drafted(self) -> DraftGraph:
        """Returns the graph, simplified."""
        graph = self._graph
        inputs, outputs = map(self.drafts_of, (graph.inputs, graph.outputs))
        return DraftGraph(graph.name, inputs, outputs, self.effects)

    def _is_given(self, tensor: tf.Tensor) -> bool:
        """Says whether a tensor needs nothing else, as a constant expression does."""
        return (
            id(tensor) in self._drafted
            or not tensor.op.inputs
            or self._constant(tensor) is not None
        )

    def _leaf(self, tensor: tf.Tensor) -> Drafted:
        """Drafts what takes nothing; of constants, all are different."""
        value = self._constant(tensor)
        if value is not None:
            return self._value(value, tensor.dtype, tensor.op)
        assert tensor.op.type != "Placeholder", f"{tensor} is not an input."
        return self._new(draft_ops.like(tensor.op, [], _specs(tensor.op)))[0]

    def _value(
        self, value: np.ndarray, dtype: tf.DType, source: tf.Operation
    ) -> Drafted:
        is_text = value.dtype == object  # Whose bytes are where it lies in memory.
        content = tuple(value.ravel()) if is_text else value.tobytes()
        key = (dtype, value.shape, content)
        return self._once(key, lambda: draft_ops.constant(value, dtype, source).op)[0]

    def _add(self, op: tf.Operation) -> Sequence[Drafted]:
        """Drafts the least that takes the place of an op."""
        inputs = self.drafts_of(op.inputs)
        if not op.outputs:
            return self._like(op, inputs)
        output = op.outputs[0]
        shape = shape_of(output)
        if op.type in _COPIES:
            return inputs
        if op.type in _UNCHANGED and _is_like(output, inputs[0]):
            return inputs[:1]
        if op.type in _RESHAPES and output.shape.is_fully_defined():
            return [self._reshaped(inputs[0], output.shape.as_list(), op)]
        if op.type == "Sum" and not op.get_attr("keep_dims"):
            return [self._sum(inputs, shape, op)]
        if op.type == "Transpose" and _keeps_order(inputs[1]):
            return inputs[:1]
        if op.type in _BROADCASTING and output.shape.is_fully_defined():
            inputs = _without_broadcasts(inputs, shape)
        return self._like(op, inputs)

    def _like(self, op: tf.Operation, inputs: list[Drafted]) -> Sequence[Drafted]:
        draft = draft_ops.like(op, inputs, _specs(op))
        if has_effect(op):
            return self._new(draft)
        return self._once((op.type, _content(draft), *inputs), lambda: draft)

    def _reshaped(
        self, value: Drafted, sizes: Sequence[int], op: tf.Operation
    ) -> Drafted:
        shape = tuple(sizes)
        if value.op.type == "Reshape":
            value = value.op.inputs[0]
        if value.shape == shape:
            return value
        if _without_kept_axes(value) == shape:
            return self._sum(value.op.inputs, shape, op)
        as_value = draft_ops.sizes(shape)
        known = self._value(as_value, tf.as_dtype(as_value.dtype), op)
        key = ("Reshape", value, shape)
        return self._once(key, lambda: draft_ops.reshape(value, known, shape, op).op)[0]

    def _sum(
        self, inputs: Sequence[Drafted], shape: Shape, op: tf.Operation
    ) -> Drafted:
        value, axes = inputs
        if _are_products_of_rows(value.op, axes):
            return self._new(_sum_of_products(value.op))[0]
        key = ("Sum", value, axes)
        return self._once(key, lambda: draft_ops.total(value, axes, shape, op).op)[0]

    def _once(self, key: object, make: Callable[[], Draft]) -> Sequence[Drafted]:
        if key not in self._known:
            self._known[key] = self._new(make())
        return self._known[key]

    def _new(self, draft: Draft) -> Sequence[Drafted]:
        self.drafts.append(draft)
        return draft.outputs

    def _constant(self, tensor: tf.Tensor) -> np.ndarray | None:
        if id(tensor) not in self._constants:
            self._constants[id(tensor)] = static_value(tensor)
        return self._constants[id(tensor)]


def _specs(op: tf.Operation) -> list[Spec]:
    return [Spec(output.dtype, shape_of(output)) for output in op.outputs]


def _is_like(one: tf.Tensor, other: Drafted) -> bool:
    is_known = one.shape.is_fully_defined()
    return is_known and shape_of(one) == other.shape and one.dtype == other.dtype


def _without_kept_axes(value: Drafted) -> Shape:
    """Returns the shape of a sum that keeps its axes, if it did not; else None."""
    if value.op.type != "Sum" or not value.op.attrs["keep_dims"].b:
        return None
    axes = value.op.inputs[1].op.value
    if axes is None or value.shape is None:
        return None
    summed = {int(axis) % len(value.shape) for axis in axes.ravel()}
    return tuple(n for axis, n in enumerate(value.shape) if axis not in summed)


def _keeps_order(permutation: Drafted) -> bool:
    axes = permutation.op.value
    return axes is not None and list(axes) == sorted(axes)


def _without_broadcasts(inputs: list[Drafted], shape: Shape) -> list[Drafted]:
    """Returns operands that are not repeated where the op repeats them by itself."""
    for index, value in enumerate(inputs):
        if value.op.type in _REPEATS:
            source = value.op.inputs[_REPEATS[value.op.type]]
            fewer = [*inputs[:index], source, *inputs[index + 1 :]]
            sizes = [other.sizes for other in fewer]
            known = [each for each in sizes if each is not None]
            if len(known) == len(fewer) and np.broadcast_shapes(*known) == shape:
                inputs = fewer
    return inputs


def _are_products_of_rows(op: Draft, axes: Drafted) -> bool:
    """Says whether a sum along `axes` of what `op` gives is one matrix."""
    summed = axes.op.value
    if not op.type.startswith("BatchMatMul") or summed is None:
        return False
    (output,) = op.outputs
    factors_and_product = [*op.inputs, output]
    batches = [v.sizes[:-2] if v.sizes else None for v in factors_and_product]
    return (
        not output.dtype.is_complex
        and len({value.dtype for value in factors_and_product}) == 1
        and len(set(batches)) == 1
        and batches[0] is not None
        and sorted(summed.ravel()) == list(range(len(batches[0])))
    )


def _sum_of_products(op: Draft) -> Draft:
    """Returns the sum of a batch of matrix products, without having each of them."""
    shape = op.outputs[0].shape
    assert shape is not None
    batch = string.ascii_lowercase[: len(shape) - 2]
    left = "YX" if op.attrs["adj_x"].b else "XY"
    right = "ZY" if op.attrs["adj_y"].b else "YZ"
    equation = f"{batch}{left},{batch}{right}->XZ"
    return draft_ops.einsum(op.inputs, equation, shape[-2:], op.source).op


def _content(draft: Draft) -> tuple[tuple[str, bytes], ...]:
    """Returns what is equal of drafts of a type that compute the same of equals."""
    return tf_compat.content_of(draft.attrs)
