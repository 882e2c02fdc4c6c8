"""Rules of slices, at places that all activations share or at their own."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules.gathers import look_up, moved
from recursive_tf.python.batching.vectorize.rules.table import (
    by_vectorized_map,
    register_vectorization,
)
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock


@register_vectorization("Slice")
def slice_rows(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Of each row, or one lookup if rows differ in where it begins."""
    values, begins, _ = inputs
    shape = op.outputs[0].shape.as_list()
    if begins.is_row:
        return [_window(block, values, begins.tensor, shape)]
    begin = tf.concat([[0], tf.cast(block.tensor(begins), tf.int64)], 0)
    size = tf.constant([-1, *shape], tf.int64)
    return [tf.slice(values.tensor, begin, size)]


def _window(
    block: VectorizedBlock, values: Operand, begins: tf.Tensor, shape: list[int]
) -> tf.Tensor:
    """Looks up what begins elsewhere for each row."""
    if not values.is_row:
        within = np.moveaxis(np.indices(shape), 0, -1)
        first = block.reshaped(begins, [*[1] * len(shape), len(shape)])
        return look_up(block, values, first + tf.constant(within, first.dtype))
    found = values.tensor
    for axis, size in enumerate(shape):
        # Where all is taken there is but one place to begin.
        if size < values.shape[axis]:
            indices = begins[:, axis : axis + 1] + tf.range(size, dtype=begins.dtype)
            found = tf.gather(found, indices, axis=axis + 1, batch_dims=1)
    return found


@register_vectorization("StridedSlice")
def strided_slice(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """What takes all of a row, as `x[tf.newaxis]` does, is a reshape."""
    if any(operand.is_row for operand in inputs[1:]):
        return [_at_indices(block, op, inputs)]
    strides = static_value(inputs[3].tensor)
    shape = op.outputs[0].shape.as_list()
    takes_all = math.prod(shape) == math.prod(inputs[0].shape)
    if takes_all and strides is not None and (strides > 0).all():
        return [block.reshaped(inputs[0].tensor, shape)]
    return by_vectorized_map(block, op, inputs)


@dataclasses.dataclass
class _Spec:
    """What a StridedSlice takes, whose indices differ between rows.

    Attributes:
        axes: Those of which it takes one element.
        entries: Where the indices of these are in the op's second input.
        rest: What it does with the other axes, as one would write it in Python.
    """

    axes: list[int]
    entries: list[int]
    rest: list[Any]


def _at_indices(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> tf.Tensor:
    """Returns e.g. `x[:, i, 1:]` for an `i` of each row: a lookup, then a slice."""
    values, begins = inputs[:2]
    spec = _spec_of(op, values.rank)
    # As in Python, what is negative counts from the end.
    indices = block.all_rows(begins)
    if spec.entries != list(range(begins.shape[0])):
        indices = tf.gather(indices, spec.entries, axis=1)
    sizes = _sizes(block, values, spec.axes, indices.dtype)
    indices = tf.where(indices < 0, indices + sizes, indices)
    taken = _taken(block, values, spec.axes, indices, block.wanted_by(op))
    return taken[(slice(None), *spec.rest)] if spec.rest else taken


def _sizes(
    block: VectorizedBlock, values: Operand, axes: list[int], dtype: tf.DType
) -> tf.Tensor:
    sizes = [values.shape[axis] for axis in axes]
    if None not in sizes:
        return tf.constant(sizes, dtype)
    # A scalar is one whatever the table is. Of a vector, block programs think that it
    # may be of any length.
    which = axes[0] if len(axes) == 1 else axes
    return block.tensor(
        block.once(lambda tensor: tf.gather(tf.shape(tensor, dtype), which), values)
    )


def _taken(
    block: VectorizedBlock,
    values: Operand,
    axes: list[int],
    indices: tf.Tensor,
    wanted: tf.Tensor | None,
) -> tf.Tensor:
    """Returns one element along each of `axes`, for those who want it."""
    if not values.is_row:

        def with_axes_in_front(tensor: tf.Tensor) -> tf.Tensor:
            for target, axis in enumerate(axes):
                tensor = moved(tensor, axis, target)
            return tensor

        table = block.once(with_axes_in_front, values)
        return look_up(block, table, indices, wanted)
    found = values.tensor
    for axis, index in reversed([*zip(axes, tf.unstack(indices, axis=1), strict=True)]):
        found = tf.gather(found, index, axis=axis + 1, batch_dims=1)
    return found


def _spec_of(op: tf.Operation, rank: int) -> _Spec:
    count = op.inputs[1].shape[0]
    masks = {
        name: [bool(op.get_attr(f"{name}_mask") >> i & 1) for i in range(count)]
        for name in ("begin", "ellipsis", "end", "new_axis", "shrink_axis")
    }
    named = count - sum(masks["ellipsis"]) - sum(masks["new_axis"])
    spec = _Spec([], [], [])
    axis = 0
    for entry in range(count):
        if masks["ellipsis"][entry]:
            spec.rest.append(...)
            axis += rank - named
        elif masks["new_axis"][entry]:
            spec.rest.append(tf.newaxis)
        elif masks["shrink_axis"][entry]:
            spec.axes.append(axis)
            spec.entries.append(entry)
            axis += 1
        else:
            begin = None if masks["begin"][entry] else _bound(op, 1, entry)
            end = None if masks["end"][entry] else _bound(op, 2, entry)
            spec.rest.append(slice(begin, end, _bound(op, 3, entry)))
            axis += 1
    return spec


def _bound(op: tf.Operation, which: int, entry: int) -> int:
    """Returns a number in a list that may have others which are computed."""
    bounds = op.inputs[which]
    value = static_value(bounds)
    if value is not None:
        return int(value[entry])
    if bounds.op.type == "Pack":
        value = static_value(bounds.op.inputs[entry])
    if value is None:
        raise CannotBatchError(
            op,
            "where it begins or ends may differ between activations. Use tf.slice, or "
            "the dataflow executor.",
        )
    return int(value)
