"""How the outputs of one op change where its inputs change by tangents."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.program.trainable import is_trainable
from recursive_tf.python.tangent.no_tangent import NoTangent, Tangent
from recursive_tf.python.tangent.transposed import tangents_by_gradient

_Inputs = list[tf.Tensor]
_Derivative = Callable[[tf.Operation, Sequence[Any]], Sequence[Tangent]]

# Ops that are linear in some inputs together, whatever the others are: the tangent is
# what the op gives for their tangents.
_LINEAR: dict[str, slice | tuple[int, ...]] = {
    **dict.fromkeys(("AddN", "Pack", "Neg", "Identity", "Complex"), slice(None)),
    **dict.fromkeys(("Reshape", "Squeeze", "ExpandDims", "Transpose"), (0,)),
    **dict.fromkeys(("Sum", "Mean", "Slice", "StridedSlice", "Pad"), (0,)),
    **dict.fromkeys(("GatherV2", "GatherNd", "Unpack", "ReverseV2", "Tile"), (0,)),
    **dict.fromkeys(("BroadcastTo", "MatrixDiagPartV3", "Cumsum", "Roll"), (0,)),
    "ConcatV2": slice(None, -1),
    "SelectV2": (1, 2),
    "Split": (1,),
    "SplitV": (0,),
    **dict.fromkeys(("EmptyTensorList", "TensorListReserve"), ()),
    **dict.fromkeys(("TensorListFromTensor", "TensorListResize"), (0,)),
    **dict.fromkeys(("TensorListGetItem", "TensorListStack"), (0,)),
    **dict.fromkeys(("TensorListPopBack", "TensorListConcatV2"), (0,)),
    **dict.fromkeys(("TensorListGather", "TensorListSplit"), (0,)),
    "TensorListPushBack": (0, 1),
    "TensorListSetItem": (0, 2),
}
# Ops that are linear in each of two inputs.
_PRODUCTS = frozenset(("BatchMatMulV2", "MatMul", "Mul"))
# TensorFlow's kernel for the tangent of these reads what it has written over, where
# nobody else holds the tangent that it takes.
_OVERWRITTEN = frozenset(("MaxPool", "MaxPool3D", "MaxPoolV2"))
_OVERWRITES = (
    "TensorFlow computes it wrongly. Do that outside of the SubGraph, or take "
    "tf.reduce_max of slices."
)
_OF_LISTS_ALONE = frozenset(("EmptyTensorList", "TensorListReserve"))


def tangents_of(op: tf.Operation, tangents: Sequence[Tangent]) -> Sequence[Tangent]:
    """Adds the tangents of an op's outputs to the default graph, which `op` is in.

    Args:
        op: The op.
        tangents: Of its inputs; that of a variable's handle is that of the variable.

    Returns:
        The tangent of each output.
    """
    if not any(may_change(output) for output in op.outputs):
        return [None] * len(op.outputs)
    if op.type in _OF_LISTS_ALONE:
        return _linear(op, [])
    if all(tangent is None for tangent in tangents):
        return [None] * len(op.outputs)
    unknown = next((t for t in tangents if isinstance(t, NoTangent)), None)
    if unknown is not None:
        return _of_unknown(op, unknown)
    if op.type in _OVERWRITTEN:
        return [NoTangent(op, _OVERWRITES)]
    if tf_compat.has_custom_gradient(op):
        return tangents_by_gradient(op, tangents)
    derivative = _DERIVATIVES.get(op.type, tangents_by_gradient)
    return derivative(op, tangents)


def may_change(tensor: tf.Tensor) -> bool:
    """Says whether a value may have a tangent."""
    if tensor.dtype == tf.variant:
        return tf_compat.may_hold_trainable(tensor)
    return is_trainable(tensor.dtype)


def _of_unknown(op: tf.Operation, unknown: NoTangent) -> Sequence[Tangent]:
    """Hands on that something is unknown, unless the op does not change with it."""
    try:
        if tf_compat.gradient_function(op) is None:
            return [None] * len(op.outputs)
    except LookupError:
        pass
    return [unknown if may_change(output) else None for output in op.outputs]


def _linear(op: tf.Operation, tangents: Sequence[Any]) -> _Inputs:
    places = _LINEAR[op.type]
    indices = range(len(op.inputs))
    among = indices[places] if isinstance(places, slice) else places
    inputs = list(op.inputs)
    for i in among:
        tangent = tangents[i]
        inputs[i] = tf.zeros_like(inputs[i]) if tangent is None else tangent
    return _outputs_like(op, inputs)


def _product(op: tf.Operation, tangents: Sequence[Any]) -> _Inputs:
    terms = []
    for i, tangent in enumerate(tangents):
        if tangent is not None:
            inputs = list(op.inputs)
            inputs[i] = tangent
            terms += _outputs_like(op, inputs)
    return [terms[0] if len(terms) == 1 else terms[0] + terms[1]]


def _sum(op: tf.Operation, tangents: Sequence[Any]) -> _Inputs:
    """Of two terms, which broadcast."""
    if all(tangent is not None for tangent in tangents):
        return _outputs_like(op, tangents)
    negative = tangents[0] is None and op.type == "Sub"
    (tangent,) = (t for t in tangents if t is not None)
    return [_broadcast(-tangent if negative else tangent, op.outputs[0])]


def _norm(op: tf.Operation, tangents: Sequence[Any]) -> _Inputs:
    """Of the square root of a sum of squares."""
    x, axes = op.inputs
    products = tf.reduce_sum(x * tangents[0], axes, op.get_attr("keep_dims"))
    return [products / op.outputs[0]]


def _read(op: tf.Operation, tangents: Sequence[Any]) -> _Inputs:
    return [tangents[0]]


def _look_up(op: tf.Operation, tangents: Sequence[Any]) -> _Inputs:
    batch_dims = op.get_attr("batch_dims")
    return [tf.gather(tangents[0], op.inputs[1], batch_dims=batch_dims)]


def _look_up_nd(op: tf.Operation, tangents: Sequence[Any]) -> _Inputs:
    return [tf.gather_nd(tangents[0], op.inputs[1])]


def _outputs_like(op: tf.Operation, inputs: Sequence[Any]) -> _Inputs:
    new = tf_compat.create_op(tf_compat.default_graph(), op, inputs)
    tf_compat.set_origin(new, op)
    return list(new.outputs)


def _broadcast(tangent: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
    if like.shape.is_fully_defined() and tangent.shape == like.shape:
        return tangent
    return tf.broadcast_to(tangent, tf.shape(like))


_DERIVATIVES: dict[str, _Derivative] = {
    **dict.fromkeys(_LINEAR, _linear),
    **dict.fromkeys(_PRODUCTS, _product),
    **dict.fromkeys(("AddV2", "Sub"), _sum),
    "EuclideanNorm": _norm,
    "ReadVariableOp": _read,
    "ResourceGather": _look_up,
    "ResourceGatherNd": _look_up_nd,
}
