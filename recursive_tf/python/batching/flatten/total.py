"""What may run where nobody wants it: total and smooth, or not hoisted.

The batched executor runs some of what a branch, a loop's turn or a body holds where it
is not known yet whether anything gets there: what no activation changes, once a root
call (`prologue.py`); what prepares the calls of a branch, with its condition
(`stages.py`); what a branch has in common with what is around it, there
(`flat_program.py`). An op may only be moved like that if nobody can tell. It has to be

1. *total*: it cannot fail, whatever the values of its inputs are;
2. *smooth*: of a gradient of zeros it makes zeros, whatever the values of its inputs
   are. What nobody reads gets zeros, and 0 * inf is NaN. So the gradient may choose,
   move, add up, or multiply by a finite constant, but not by a value. An op that has no
   gradient is smooth.

That the value itself may be infinity or NaN does no harm: nobody reads it. Products,
quotients, roots, logarithms and products of matrices are not smooth: `x * inf` has the
gradient `0 * inf`. Nothing is known of the values of captures, so there is no proof
for these, ever, except where a factor is a constant.

What is not total and smooth is not refused: what no activation changes is computed at
the first launch that takes it (`late_parts.py`), the rest where it stands. So what is
not named here costs little, and is right.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.program.trainable import is_trainable

# Says of an op with these inputs whether it cannot fail.
_Condition = Callable[[tf.Operation, Sequence[tf.Tensor]], bool]

# Element by element. The first of them hand on their gradient, with a sign or chosen;
# the others have no gradient.
_SMOOTH = frozenset(
    (
        *("Add", "AddV2", "AddN", "BiasAdd", "Cast", "Identity", "IdentityN"),
        *("Maximum", "Minimum", "Neg", "OnesLike", "ReadVariableOp", "Relu"),
        *("Select", "SelectV2", "Snapshot", "StopGradient", "Sub", "ZerosLike"),
        *("Ceil", "Equal", "Floor", "Greater", "GreaterEqual", "Less", "LessEqual"),
        *("NotEqual", "Rint", "Round", "Sign"),
    )
)
# Cannot fail either, but multiply their gradient by values: of integers and booleans.
_TOTAL = frozenset(
    (
        *("Abs", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Invert", "IsFinite"),
        *("IsInf", "IsNan", "LogicalAnd", "LogicalNot", "LogicalOr", "Mul"),
        *("RecursiveMixKey", "Square"),
    )
)
# Of the shapes of what they take alone.
_OF_SHAPES = frozenset(("Const", "Rank", "Shape", "ShapeN", "Size", "VariableShape"))


def _shapes_fit(op: tf.Operation, inputs: Sequence[tf.Tensor]) -> bool:
    """Says whether inputs broadcast, whatever their unknown dimensions are."""
    del op
    shapes = [t.shape for t in inputs if t.dtype != tf.resource]
    if len(shapes) <= 1:
        return True
    if any(shape.rank is None for shape in shapes):
        return False
    for axis in range(1, max(shape.rank for shape in shapes) + 1):
        sizes = [shape[-axis] for shape in shapes if shape.rank >= axis]
        if len(set(sizes) - {1}) > 1 or (None in sizes and len(sizes) > 1):
            return False
    return True


def _is_static(op: tf.Operation, inputs: Sequence[tf.Tensor]) -> bool:
    """Says whether all shapes are known: then they were checked, and how it moves."""
    return (
        all(t.shape.is_fully_defined() for t in [*inputs, *op.outputs])
        and all(static_value(inputs[i]) is not None for i in _parameters(op, inputs))
        and not any(t.shape.num_elements() == 0 for t in inputs[:1])
    )


def _parameters(op: tf.Operation, inputs: Sequence[tf.Tensor]) -> Sequence[int]:
    """Returns which inputs say how an op moves the others."""
    if op.type in ("Pack", "Unpack", "Squeeze"):
        return ()
    if op.type == "Split":
        return (0,)
    return range(1, len(inputs))


def _is_of_known_rank(op: tf.Operation, inputs: Sequence[tf.Tensor]) -> bool:
    """Says the same of ops that any sizes will do for."""
    del op
    parameters = [static_value(tensor) for tensor in inputs[1:]]
    return inputs[0].shape.rank is not None and all(p is not None for p in parameters)


def _is_padded(op: tf.Operation, inputs: Sequence[tf.Tensor]) -> bool:
    paddings: Any = static_value(inputs[1])
    return _is_of_known_rank(op, inputs) and bool((paddings >= 0).all())


def _is_joined(op: tf.Operation, inputs: Sequence[tf.Tensor]) -> bool:
    """Says whether tensors differ in size only where they are joined, if there."""
    del op
    *parts, axis = inputs
    along = static_value(axis)
    ranks = {part.shape.rank for part in parts}
    if along is None or None in ranks:
        return False
    others = [part.shape.as_list() for part in parts]
    for sizes in others:
        del sizes[int(along)]
    return all(None not in sizes for sizes in others)


def _is_within(op: tf.Operation, inputs: Sequence[tf.Tensor]) -> bool:
    """Says whether a slice is taken of what is there; what has no index always is."""
    if not _is_of_known_rank(op, inputs):
        return False
    bounds: list[Any] = [static_value(tensor) for tensor in inputs[1:]]

    def is_marked(kind: str, i: int) -> bool:
        return bool(op.get_attr(f"{kind}_mask") >> i & 1)

    def part(i: int, begin: int, end: int, stride: int) -> Any:
        if is_marked("ellipsis", i):
            return ...
        if is_marked("new_axis", i):
            return None
        if is_marked("shrink_axis", i):
            return begin
        first = None if is_marked("begin", i) else begin
        return slice(first, None if is_marked("end", i) else end, stride)

    taken = tuple(part(i, *bound) for i, bound in enumerate(zip(*bounds, strict=True)))
    try:
        np.broadcast_to(np.int8(0), [n or 0 for n in inputs[0].shape])[taken]
    except (IndexError, ValueError):
        return False
    return True


def _finds_all(op: tf.Operation, inputs: Sequence[tf.Tensor]) -> bool:
    """Says whether what is looked up is there."""
    values, indices, axis = inputs
    places, along = static_value(indices), static_value(axis)
    if op.get_attr("batch_dims") or places is None or along is None:
        return False
    if values.shape.rank is None or not -values.shape.rank <= along < values.shape.rank:
        return False
    size = values.shape[int(along)]
    return size is not None and bool(np.all((places >= 0) & (places < size)))


def _is_rectangular(op: tf.Operation, inputs: Sequence[tf.Tensor]) -> bool:
    """Says whether values can be told to be of a shape that is known."""
    shapes = (inputs[0].shape, op.outputs[0].shape)
    return all(shape.is_fully_defined() for shape in shapes)


_CONDITIONS: dict[str, _Condition] = {
    **dict.fromkeys(_SMOOTH | _TOTAL, _shapes_fit),
    **dict.fromkeys(("BroadcastTo", "Mean", "Pack", "ReverseV2", "Slice"), _is_static),
    **dict.fromkeys(("Split", "SplitV", "Squeeze", "Tile", "Unpack"), _is_static),
    **dict.fromkeys(("ExpandDims", "Sum", "Transpose"), _is_of_known_rank),
    "ConcatV2": _is_joined,
    "GatherV2": _finds_all,
    "Pad": _is_padded,
    "Reshape": _is_rectangular,
    "StridedSlice": _is_within,
}


def is_total_and_smooth(op: tf.Operation, inputs: Sequence[tf.Tensor]) -> bool:
    """Says whether `op` may run where nobody wants it.

    Args:
        op: The op.
        inputs: What it takes, where that is computed: constants are seen there.
    """
    if op.type in _OF_SHAPES:
        return True
    if tf_compat.has_custom_gradient(op):
        return False
    condition = _CONDITIONS.get(op.type)
    if condition is None or not condition(op, inputs):
        return False
    return op.type not in _TOTAL or not _multiplies_by_value(op, inputs)


def is_smooth(op: tf.Operation, inputs: Sequence[tf.Tensor]) -> bool:
    """Says the same of an op that runs anyway, so that it may fail."""
    no_gradient = not any(is_trainable(output.dtype) for output in op.outputs)
    return no_gradient or is_total_and_smooth(op, inputs)


def _multiplies_by_value(op: tf.Operation, inputs: Sequence[tf.Tensor]) -> bool:
    """Says whether a gradient is multiplied by something that may be infinite."""
    if not is_trainable(op.outputs[0].dtype):
        return False
    factors = map(static_value, inputs) if op.type == "Mul" else ()
    return not any(f is not None and np.isfinite(f).all() for f in factors)


class Lateness:
    """Which tensors that no activation changes may not be computed before all else.

    Args:
        inputs_of: Returns what computes the inputs of an op.
        is_given: Says whether a tensor is there already.
    """

    def __init__(
        self,
        inputs_of: Callable[[tf.Operation], Sequence[tf.Tensor]],
        is_given: Callable[[tf.Tensor], bool],
    ) -> None:
        self._inputs_of = inputs_of
        self._is_given = is_given
        self._is_late: dict[tf.Operation, bool] = {}

    def of(self, tensor: tf.Tensor) -> bool:
        """Says whether `tensor` needs an op that is not total and smooth."""
        if self._is_given(tensor):
            return False
        todo = [tensor.op]
        # A stack, not a recursion: chains of ops may be longer than Python's.
        while todo:
            op = todo[-1]
            inputs = list(self._inputs_of(op))
            before = {t.op for t in inputs if not self._is_given(t)}
            missing = before - self._is_late.keys()
            if missing:
                todo += missing
                continue
            todo.pop()
            self._is_late[op] = any(
                self._is_late[b] for b in before
            ) or not is_total_and_smooth(op, inputs)
        return self._is_late[tensor.op]
