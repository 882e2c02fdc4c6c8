"""Gradients of ops that know that all shapes are static.

TensorFlow's give the same values, but compute with shapes on the way.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.graphs.static import static_value

GradientFunction = Callable[..., Sequence[Any]]

_OWN: dict[str, GradientFunction] = {}


def gradient_function(op: tf.Operation) -> GradientFunction | None:
    """Returns what differentiates `op`, or None if its gradient is zero.

    Raises:
        LookupError: If nothing does.
    """
    return _OWN.get(op.type) or tf_compat.gradient_function(op)


def _gradient_of(*op_types: str) -> Callable[[GradientFunction], GradientFunction]:
    def register(function: GradientFunction) -> GradientFunction:
        _OWN.update(dict.fromkeys(op_types, function))
        return function

    return register


@_gradient_of("BroadcastTo")
def _broadcast_to(op: tf.Operation, gradient: tf.Tensor) -> list[tf.Tensor | None]:
    """Adds up what was repeated; TensorFlow's asks the shape, which may be computed."""
    own, shape = op.inputs[0].shape.as_list(), op.outputs[0].shape.as_list()
    before = [1] * (len(shape) - len(own)) + own
    axes = [axis for axis, size in enumerate(shape) if before[axis] != size]
    total = tf.reduce_sum(gradient, axes) if axes else gradient
    return [tf.reshape(total, own), None]


@_gradient_of("ConcatV2")
def _concat(op: tf.Operation, gradient: tf.Tensor) -> list[tf.Tensor | None]:
    """Splits; TensorFlow's takes a slice for each part."""
    *parts, axis = op.inputs
    along = int(_known(axis))
    sizes = [part.shape[along] for part in parts]
    count_or_sizes = len(sizes) if len(set(sizes)) == 1 else sizes
    return [*tf.split(gradient, count_or_sizes, along), None]


@_gradient_of("Mean", "Sum")
def _sum(op: tf.Operation, gradient: tf.Tensor) -> list[tf.Tensor | None]:
    """Repeats last, so that it may be left to what takes the result."""
    source, axes = op.inputs
    shape = source.shape.as_list()
    summed = {int(axis) % len(shape) for axis in np.ravel(_known(axes))}
    kept = [1 if axis in summed else size for axis, size in enumerate(shape)]
    if op.type == "Mean":
        gradient /= max(math.prod(shape[axis] for axis in summed), 1)
    return [tf.broadcast_to(tf.reshape(gradient, kept), shape), None]


@_gradient_of("UnsortedSegmentSum")
def _segment_sum(op: tf.Operation, gradient: tf.Tensor) -> Sequence[Any]:
    """Looks up; TensorFlow's also looks for segments below zero."""
    _, segments, _ = op.inputs
    if segments.op.type == "RecursiveItems":  # Owners of items: see item_axis.py.
        return [tf.gather(gradient, segments), None, None]
    function = tf_compat.gradient_function(op)
    assert function is not None
    return list(function(op, gradient))


@_gradient_of("UnsortedSegmentMax", "UnsortedSegmentMin")
def _segment_extreme(op: tf.Operation, gradient: tf.Tensor) -> Sequence[Any]:
    """Shared equally by all that are the largest; else as TensorFlow's."""
    values, segments, count = op.inputs
    if segments.op.type != "RecursiveItems":
        function = tf_compat.gradient_function(op)
        assert function is not None
        return list(function(op, gradient))
    is_taken = tf.equal(values, tf.gather(op.outputs[0], segments))
    shares = tf.cast(is_taken, gradient.dtype)
    number = tf.math.unsorted_segment_sum(shares, segments, count)
    # Nobody takes the share of no items, nor its gradient.
    each = tf.gather(gradient / tf.maximum(number, 1), segments)
    return [tf.where(is_taken, each, tf.zeros_like(each)), None, None]


@_gradient_of("StridedSlice")
def _strided_slice(op: tf.Operation, gradient: tf.Tensor) -> Sequence[Any]:
    """Pads; TensorFlow's is an op that takes the shape."""
    taken = _taken_ranges(op)
    if any(part.step != 1 for part in taken):
        function = tf_compat.gradient_function(op)
        assert function is not None
        return list(function(op, gradient))
    parts = tf.reshape(gradient, [len(part) for part in taken])
    shape = op.inputs[0].shape.as_list()
    paddings = [
        [part.start, size - part.start - len(part)]
        for part, size in zip(taken, shape, strict=True)
    ]
    return [tf.pad(parts, paddings), None, None, None]


def _taken_ranges(op: tf.Operation) -> list[range]:
    """Returns what a strided slice takes along each axis."""
    source, *bounds = op.inputs
    taken: list[Any] = []
    for i, (begin, end, stride) in enumerate(zip(*map(_known, bounds), strict=True)):
        if _is_marked(op, "ellipsis", i):
            taken.append(...)
        elif _is_marked(op, "shrink_axis", i):
            taken.append(slice(begin, begin + 1 or None))
        elif not _is_marked(op, "new_axis", i):
            first = None if _is_marked(op, "begin", i) else begin
            last = None if _is_marked(op, "end", i) else end
            taken.append(slice(first, last, stride))
    if ... not in taken:
        taken.append(...)
    at = taken.index(...)
    taken[at : at + 1] = [slice(None)] * (source.shape.rank - len(taken) + 1)
    return [range(n)[part] for n, part in zip(source.shape, taken, strict=True)]


def _is_marked(op: tf.Operation, kind: str, index: int) -> bool:
    return bool(op.get_attr(f"{kind}_mask") >> index & 1)


def _known(tensor: tf.Tensor) -> np.ndarray:
    value = static_value(tensor)
    if value is None:
        raise ValueError("Its axis is computed.")
    return value
