"""Rules of ops that make a list for each activation: any number of items."""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.batching.refusal import varying
from recursive_tf.python.batching.vectorize.item_axis import ItemAxis
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules.table import register_list_maker
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock


def _as_list(items: tf.Tensor, axis: ItemAxis) -> Operand:
    """Returns items as what rules take for a list."""
    shape = [axis.num_items, 1, *items.shape[1:]]
    return Operand(tf.reshape(items, shape), is_row=True, axis=axis)


def _row_numbers(block: VectorizedBlock, operand: Operand) -> tf.Tensor:
    """Returns integers of each activation, to compute with them."""
    return tf.cast(block.all_rows(operand), tf.int32)


@register_list_maker("IdentityN")
def known_rows(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """Rows of which it is known how many there are: see made_ops.py."""
    rows = inputs[0]
    count, *shape = rows.shape

    def lengths() -> tf.Tensor:
        return tf.fill([block.num_rows], tf.constant(count, tf.int32))

    axis = block.axis_of(op, lengths, count)
    items = tf.reshape(block.all_rows(rows), [axis.num_items, *shape])
    return [_as_list(items, axis), *inputs[1:]]


@register_list_maker("Range")
def numbers(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """Integers from a number of the activation to another."""
    if not op.outputs[0].dtype.is_integer:
        raise varying(op.outputs[0])

    def lengths() -> tf.Tensor:
        start, limit, delta = map(block.all_rows, inputs)
        # Rounded up, of whatever sign.
        return tf.cast(tf.maximum(-((start - limit) // delta), 0), tf.int32)

    axis = block.axis_of(op, lengths, None)
    view = block.of_items(axis)
    start, _, delta = (view.tensor(block.items_of(o, axis)) for o in inputs)
    steps = tf.cast(axis.positions, op.outputs[0].dtype) * delta
    return [_as_list(start + steps, axis)]


@register_list_maker("StridedSlice")
def slice_between(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """What is between two places of the activation, e.g. `values[begin:end]`."""
    values = inputs[0]
    bounds = [_only(block, op, operand) for operand in inputs[1:3]]
    strides = static_value(inputs[3].tensor)
    if strides is None or list(strides) != [1] or _has_more(op):
        raise varying(op.outputs[0])
    size = _size(block, values)

    def bound(index: int, name: str, otherwise: tf.Tensor) -> tf.Tensor:
        if op.get_attr(f"{name}_mask"):
            return tf.broadcast_to(otherwise, [block.num_rows])
        # As in Python, what is negative counts from the end.
        given = bounds[index]
        given = tf.where(given < 0, given + size, given)
        return tf.clip_by_value(given, 0, size)

    begin = bound(0, "begin", tf.constant(0))
    axis = block.axis_of(op, lambda: tf.maximum(bound(1, "end", size) - begin, 0), None)
    return [_taken(block, values, axis.of_owners(begin) + axis.positions, axis)]


@register_list_maker("RaggedGather")
def ragged_row(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """A row of a ragged tensor."""
    *nested_splits, values, index = inputs
    is_shared = not any(operand.is_row for operand in inputs[:-1])
    if len(nested_splits) != 1 or index.rank or not is_shared:
        raise varying(op.outputs[0])
    table = block.once(lambda splits: tf.cast(splits, tf.int32), nested_splits[0])
    table, number = block.tensor(table), block.all_rows(index)
    begin = tf.gather(table, number)
    axis = block.axis_of(op, lambda: tf.gather(table, number + 1) - begin, None)
    return [_taken(block, values, axis.of_owners(begin) + axis.positions, axis)]


@register_list_maker("Where")
def places(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """Where a vector of the activation is true, as `tf.boolean_mask` asks for."""
    if inputs[0].rank != 1 or op.inputs[0].dtype != tf.bool:
        raise varying(op.outputs[0])
    mask = inputs[0].tensor

    def lengths() -> tf.Tensor:
        return tf.reduce_sum(tf.cast(mask, tf.int32), axis=1)

    axis = block.axis_of(op, lengths, None)
    found = tf.where(mask)
    found.set_shape([axis.num_items, 2])
    return [_as_list(found[:, 1:], axis)]


@register_list_maker("BroadcastTo", "Fill")
def repeated(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """The same for each item, e.g. `tf.broadcast_to(row, tf.shape(items))`."""
    values = inputs[0 if op.type == "BroadcastTo" else 1]
    shape = op.outputs[0].shape[1:].as_list()
    if values.rank > len(shape) and values.shape[0] != 1:
        raise varying(op.outputs[0])
    axis = _known_axis(block, op)
    items = _for_each_item(block, axis, values, [1, *shape])
    return [Operand(items, is_row=True, axis=axis)]


@register_list_maker("Tile")
def tiled(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """A list of one, as often as there are items."""
    values = inputs[0]
    if values.shape[0] != 1:
        raise varying(op.outputs[0])
    axis = _known_axis(block, op)
    items = _for_each_item(block, axis, values, values.shape)
    sizes = zip(op.outputs[0].shape[1:], values.shape[1:], strict=True)
    multiples = [1, 1, *(size // max(own, 1) for size, own in sizes)]
    return [Operand(tf.tile(items, multiples), is_row=True, axis=axis)]


def _for_each_item(
    block: VectorizedBlock, axis: ItemAxis, values: Operand, shape: Sequence[int]
) -> tf.Tensor:
    if not values.is_row:
        return axis.of_all(block.tensor(values), shape)
    return block.of_items(axis).all_rows(block.items_of(values, axis), shape)


def _known_axis(block: VectorizedBlock, op: tf.Operation) -> ItemAxis:
    axis = block.axis_of_size(op)
    assert axis is not None, f"{op.name} makes a list of no size."
    return axis


def _only(block: VectorizedBlock, op: tf.Operation, bound: Operand) -> tf.Tensor:
    """Returns the one number that a bound of a slice consists of."""
    if bound.shape != [1]:
        raise varying(op.outputs[0])
    return _row_numbers(block, bound)[:, 0]


def _has_more(op: tf.Operation) -> bool:
    """Says whether a slice does something else than to take what is between bounds."""
    kinds = ("ellipsis", "new_axis", "shrink_axis")
    return any(op.get_attr(f"{kind}_mask") for kind in kinds)


def _size(block: VectorizedBlock, values: Operand) -> tf.Tensor:
    """Returns how long the first axis is."""
    if values.shape[0] is not None:
        return tf.constant(values.shape[0])
    return block.tensor(block.once(lambda tensor: tf.shape(tensor)[0], values))


def _taken(
    block: VectorizedBlock, values: Operand, places: tf.Tensor, axis: ItemAxis
) -> Operand:
    """Returns what is at places of values, of the activation or of all of them."""
    if not values.is_row:
        return _as_list(tf.gather(block.tensor(values), places), axis)
    # Row by row, so that what is kept is right for launches that are taken together.
    seen = block.items_of(values, axis).tensor
    return _as_list(tf.gather(seen, places, axis=1, batch_dims=1), axis)
