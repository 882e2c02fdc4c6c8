"""Rules of ops that make something of all items of a list."""

import math
from collections.abc import Callable, Sequence

import tensorflow as tf

from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.batching.graphs.wide_sums import widened
from recursive_tf.python.batching.vectorize.item_axis import ItemAxis
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules.item_by_item import (
    alone,
    axis_of,
    by_items,
    item_by_item,
    not_item_by_item,
)
from recursive_tf.python.batching.vectorize.rules.table import register_list_rule
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock


def _any(axis: ItemAxis, items: tf.Tensor) -> tf.Tensor:
    return axis.sum(tf.cast(items, tf.int32)) > 0


def _all(axis: ItemAxis, items: tf.Tensor) -> tf.Tensor:
    return tf.logical_not(_any(axis, tf.logical_not(items)))


# What an op makes of the other axes that it is along, and then of items.
_REDUCTIONS: dict[
    str,
    tuple[Callable[..., tf.Tensor], Callable[[ItemAxis, tf.Tensor], tf.Tensor]],
] = {
    "All": (tf.reduce_all, _all),
    "Any": (tf.reduce_any, _any),
    "Max": (tf.reduce_max, ItemAxis.max),
    "Mean": (tf.reduce_mean, ItemAxis.mean),
    "Min": (tf.reduce_min, ItemAxis.min),
    "Prod": (tf.reduce_prod, ItemAxis.prod),
    "Sum": (tf.reduce_sum, ItemAxis.sum),
}


@register_list_rule(*_REDUCTIONS)
def reduction(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor | Operand]:
    """Along other axes of each item, and then along that of the items, if it is."""
    values = inputs[0]
    axes = static_value(inputs[1].tensor)
    if axes is None or (op.type == "Mean" and not values.tensor.dtype.is_floating):
        raise not_item_by_item(op)
    along = sorted({int(axis) % values.rank for axis in axes.ravel()})
    if 0 not in along:
        return by_items(block, op, inputs)
    of_others, of_items = _REDUCTIONS[op.type]
    items = values.tensor
    if len(along) > 1:
        items = of_others(items, [axis + 1 for axis in along[1:]], keepdims=True)
    found = of_items(axis_of(op, inputs), items)
    return [block.reshaped(found, op.outputs[0].shape.as_list())]


@register_list_rule("Softmax", "LogSoftmax")
def softmax(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor | Operand]:
    """Over the items, where these are the last axis."""
    if inputs[0].rank > 1:
        return by_items(block, op, inputs)
    axis = axis_of(op, inputs)
    items = inputs[0].tensor
    items -= tf.stop_gradient(axis.of_owners(axis.max(items)))
    totals = axis.sum(tf.exp(items))
    if op.type == "LogSoftmax":
        found = items - axis.of_owners(tf.math.log(totals))
    else:
        found = tf.exp(items) / axis.of_owners(totals)
    return [Operand(found, is_row=True, axis=axis)]


@register_list_rule("MatMul")
def product(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor | Operand]:
    """Of each item with a matrix, or over all items of two lists."""
    left, right = inputs
    both = left.axis is not None and right.axis is not None
    flips = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    if not both or flips != (True, False):
        return item_by_item(block, op, inputs)
    axis = axis_of(op, inputs)
    rows = tf.reshape(left.tensor, [axis.num_items, left.shape[1], 1])
    products = widened(rows) * widened(right.tensor)
    return [tf.cast(axis.sum(products), rows.dtype)]


@register_list_rule("Einsum")
def einsum(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor | Operand]:
    """Of each item, or added up over all of them."""
    terms, _, result = tf.compat.as_str(op.get_attr("equation")).partition("->")
    named = list(zip(terms.split(","), inputs, strict=True))
    labels = {term[:1] for term, operand in named if operand.axis is not None}
    label, *others = labels
    counts = [term.count(label) for term, operand in named if operand.axis is not None]
    shared = [term for term, operand in named if operand.axis is None and label in term]
    if others or shared or "." in terms or set(counts) != {1}:
        raise not_item_by_item(op)
    if label not in result:
        found = alone(block, op, inputs, _check_is_sum)
        return [axis_of(op, inputs).sum(found[0])]
    if not result.startswith(label):
        raise not_item_by_item(op)
    return by_items(block, op, inputs)


def _check_is_sum(op: tf.Operation, index: int, of_one: tf.TensorShape) -> None:
    if not of_one.is_fully_defined() or of_one != op.outputs[index].shape:
        raise not_item_by_item(op)


@register_list_rule("BroadcastTo")
def broadcast_to(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """Of each item to another shape."""
    values, shape = inputs[0], op.outputs[0].shape
    axis = axis_of(op, inputs)
    if shape.rank != values.rank or block.axis_of_size(op) is not axis:
        raise not_item_by_item(op)
    items = Operand(values.tensor, is_row=True)
    found = block.of_items(axis).all_rows(items, [1, *shape[1:]])
    return [Operand(found, is_row=True, axis=axis)]


@register_list_rule("Shape", "Size")
def shape(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """How many items there are; the rest is known."""
    rest = inputs[0].shape[1:]
    axis = axis_of(op, inputs)
    lengths = tf.cast(axis.lengths, op.outputs[0].dtype)
    if op.type == "Size":
        return [lengths * math.prod(rest)]
    found = tf.reshape(lengths, [block.num_rows, 1])
    if rest:
        others = tf.constant(rest, lengths.dtype, [1, len(rest)])
        others = tf.broadcast_to(others, [block.num_rows, len(rest)])
        found = tf.concat([found, others], 1)
    return [found]


@register_list_rule("Reshape")
def reshape(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """Of each item, if it stays one."""
    values, output = inputs[0], op.outputs[0].shape
    is_same = output.rank and output[1:].is_fully_defined()
    if values.axis is None or not is_same or output[0] is not None:
        raise not_item_by_item(op)
    if math.prod(output[1:]) != math.prod(values.shape[1:]):
        raise not_item_by_item(op)
    items = block.of_items(values.axis).reshaped(values.tensor, [1, *output[1:]])
    return [Operand(items, is_row=True, axis=values.axis)]


@register_list_rule("EnsureShape")
def ensure_shape(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor | Operand]:
    """What has as many items in each activation becomes rows."""
    (values,) = inputs
    output = op.outputs[0].shape
    axis = axis_of(op, inputs)
    if not output.rank or not output[1:].is_fully_defined():
        raise not_item_by_item(op)
    if output[0] is None:
        return inputs
    if axis.num_items != block.num_rows * output[0]:
        raise not_item_by_item(op)
    return [tf.reshape(values.tensor, [block.num_rows, *output])]
