"""Leaves out of a graph with static shapes what computes nothing new."""

import string
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.graphs.rebuild import Rebuild, effects_in
from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.program.effects import has_effect
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
    """Makes a graph with static shapes without what computes nothing new.

    Constant expressions become constants. Copies, and what reshapes or repeats what is
    reshaped or repeated anyway, are left out; so is what is there twice.

    Returns:
        What has that graph, and can be extended by more of what is in `graph`.
    """
    simplifier = Simplifier(graph.name)
    simplifier.extend(graph.inputs, graph.outputs, effects_in(graph))
    return simplifier


class Simplifier(Rebuild):
    """See `simplify`."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._constants: dict[int, np.ndarray | None] = {}
        self._known: dict[object, Sequence[tf.Tensor]] = {}

    def is_leaf(self, tensor: tf.Tensor) -> bool:
        """A constant expression is a leaf."""
        return self._constant(tensor) is not None or super().is_leaf(tensor)

    def add_leaf(self, tensor: tf.Tensor) -> tf.Tensor:
        """Adds a constant, of which all are different."""
        value = self._constant(tensor)
        if value is None:
            return super().add_leaf(tensor)
        is_text = value.dtype == object  # Whose bytes are where it lies in memory.
        content = tuple(value.ravel()) if is_text else value.tobytes()
        key = (tensor.dtype, value.shape, content)
        return self._once(key, lambda: [tf.constant(value, tensor.dtype)])[0]

    def add(self, op: tf.Operation) -> Sequence[tf.Tensor]:
        """Adds the least that takes the place of an op."""
        inputs = self.inputs_of(op)
        if not op.outputs:
            return self._like(op, inputs)
        output = op.outputs[0]
        if op.type in _COPIES:
            return inputs
        if op.type in _UNCHANGED and _is_like(output, inputs[0]):
            return inputs[:1]
        if op.type in _RESHAPES and output.shape.is_fully_defined():
            return [self._reshaped(inputs[0], output.shape.as_list())]
        if op.type == "Sum" and not op.get_attr("keep_dims"):
            return [self._sum(*inputs)]
        if op.type == "Transpose" and _keeps_order(inputs[1]):
            return inputs[:1]
        if op.type in _BROADCASTING and output.shape.is_fully_defined():
            inputs = _without_broadcasts(inputs, output.shape.as_list())
        return self._like(op, inputs)

    def _like(self, op: tf.Operation, inputs: list[tf.Tensor]) -> Sequence[tf.Tensor]:
        def make() -> Sequence[tf.Tensor]:
            outputs = list(self.add_like(op, inputs).outputs)
            for old, new in zip(op.outputs, outputs, strict=True):
                tf_compat.copy_static_info(old, new)
            return outputs

        return (
            make()
            if has_effect(op)
            else self._once((tf_compat.signature_of(op), *map(id, inputs)), make)
        )

    def _reshaped(self, tensor: tf.Tensor, shape: list[int]) -> tf.Tensor:
        if tensor.op.type == "Reshape":
            tensor = tensor.op.inputs[0]
        if tensor.shape == shape:
            return tensor
        if _without_kept_axes(tensor) == shape:
            return self._sum(*tensor.op.inputs)
        key = ("Reshape", id(tensor), tuple(shape))
        return self._once(key, lambda: [tf.reshape(tensor, shape)])[0]

    def _sum(self, tensor: tf.Tensor, axes: tf.Tensor) -> tf.Tensor:
        if _are_products_of_rows(tensor.op, axes):
            return _sum_of_products(tensor.op)
        key = ("Sum", id(tensor), id(axes))
        return self._once(key, lambda: [tf.reduce_sum(tensor, axes)])[0]

    def _once(
        self, key: object, make: Callable[[], Sequence[tf.Tensor]]
    ) -> Sequence[tf.Tensor]:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def _constant(self, tensor: tf.Tensor) -> np.ndarray | None:
        if id(tensor) not in self._constants:
            self._constants[id(tensor)] = static_value(tensor)
        return self._constants[id(tensor)]


def _is_like(one: tf.Tensor, other: tf.Tensor) -> bool:
    same_shape = one.shape.is_fully_defined() and one.shape == other.shape
    return bool(same_shape and one.dtype == other.dtype)


def _without_kept_axes(tensor: tf.Tensor) -> list[int] | None:
    """Returns the shape of a sum that keeps its axes, if it did not; else None."""
    if tensor.op.type != "Sum" or not tensor.op.get_attr("keep_dims"):
        return None
    axes = static_value(tensor.op.inputs[1])
    if axes is None:
        return None
    summed = {int(axis) % tensor.shape.rank for axis in axes.ravel()}
    return [n for axis, n in enumerate(tensor.shape) if axis not in summed]


def _keeps_order(permutation: tf.Tensor) -> bool:
    axes = static_value(permutation)
    return axes is not None and list(axes) == sorted(axes)


def _without_broadcasts(inputs: list[tf.Tensor], shape: list[int]) -> list[tf.Tensor]:
    """Returns operands that are not repeated where the op repeats them by itself."""
    for index, tensor in enumerate(inputs):
        if tensor.op.type in _REPEATS:
            source = tensor.op.inputs[_REPEATS[tensor.op.type]]
            fewer = [*inputs[:index], source, *inputs[index + 1 :]]
            if list(np.broadcast_shapes(*(t.shape for t in fewer))) == shape:
                inputs = fewer
    return inputs


def _are_products_of_rows(op: tf.Operation, axes: tf.Tensor) -> bool:
    """Says whether a sum along `axes` of what `op` gives is one matrix."""
    summed = static_value(axes)
    if not op.type.startswith("BatchMatMul") or summed is None:
        return False
    batch = op.outputs[0].shape[:-2]
    return (
        not op.outputs[0].dtype.is_complex
        and len({factor.dtype for factor in [*op.inputs, *op.outputs]}) == 1
        and sorted(summed.ravel()) == list(range(batch.rank))
        and all(factor.shape[:-2] == batch for factor in op.inputs)
    )


def _sum_of_products(op: tf.Operation) -> tf.Tensor:
    """Returns the sum of a batch of matrix products, without having each of them."""
    batch = string.ascii_lowercase[: op.outputs[0].shape.rank - 2]
    left = "YX" if op.get_attr("adj_x") else "XY"
    right = "ZY" if op.get_attr("adj_y") else "YZ"
    equation = f"{batch}{left},{batch}{right}->XZ"
    return tf.raw_ops.Einsum(inputs=list(op.inputs), equation=equation)
