"""Rules of lists of tensors: what `tf.TensorArray`, `tf.map_fn` and `tf.scan` are of.

Loops are written out, so it is known what each place of a list holds. While a block is
vectorized a list is that, and then it is gone.
"""

import dataclasses
from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules.table import (
    refusing,
    register_vectorization,
)
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock


@dataclasses.dataclass(frozen=True)
class ListOperand(Operand):
    """A list, whose `tensor` is the handle that it has for one activation.

    Attributes:
        items: What its places hold; None is what was not written.
    """

    items: tuple[Operand | None, ...] = ()


def _list(op: tf.Operation, items: Sequence[Operand | None]) -> ListOperand:
    return ListOperand(op.outputs[0], is_row=True, items=tuple(items))


def _items_of(op: tf.Operation, operand: Operand) -> list[Operand | None]:
    if isinstance(operand, ListOperand):
        return list(operand.items)
    made_by = operand.tensor.op
    if made_by.type == "EmptyTensorList":
        return []
    count = (
        static_value(made_by.inputs[1]) if made_by.type == "TensorListReserve" else None
    )
    if count is None:
        raise CannotBatchError(
            op, "how long its list is, is not known before the program runs."
        )
    return [None] * int(count)


def _number(op: tf.Operation, operand: Operand) -> int:
    value = None if operand.is_row else static_value(operand.tensor)
    if value is None:
        raise CannotBatchError(
            op,
            "its index is not known before the program runs. Use tensors and "
            "tf.gather, or the dataflow executor.",
        )
    return int(value)


def _item(
    block: VectorizedBlock, op: tf.Operation, items: list[Operand | None], index: int
) -> Operand:
    if not 0 <= index < len(items):
        raise CannotBatchError(op, f"index {index} is not in its list of {len(items)}.")
    found = items[index]
    if found is not None:
        return found
    known = next((item for item in items if item is not None), None)
    if known is None:
        raise CannotBatchError(op, "nothing was written to its list.")
    return block.once(lambda: tf.zeros(known.shape, known.tensor.dtype))


register_vectorization("TensorListReserve")(
    refusing(
        "the length of its list may differ between activations. Give the "
        "tf.TensorArray a size that is known, or use the dataflow executor."
    )
)


@register_vectorization("TensorListFromTensor")
def from_tensor(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """A list of the parts of each row."""
    del block
    parts = tf.unstack(inputs[0].tensor, axis=1)
    return [_list(op, [Operand(part, is_row=True) for part in parts])]


@register_vectorization("TensorListGetItem")
def get_item(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """What the place holds."""
    return [_item(block, op, _items_of(op, inputs[0]), _number(op, inputs[1]))]


@register_vectorization("TensorListSetItem")
def set_item(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """A list with something else at the place."""
    del block
    items, index = _items_of(op, inputs[0]), _number(op, inputs[1])
    if op.get_attr("resize_if_index_out_of_bounds"):
        items += [None] * (index + 1 - len(items))
    if not 0 <= index < len(items):
        raise CannotBatchError(op, f"index {index} is not in its list of {len(items)}.")
    items[index] = inputs[2]
    return [_list(op, items)]


@register_vectorization("TensorListPushBack")
def push_back(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """A list with one more."""
    del block
    return [_list(op, [*_items_of(op, inputs[0]), inputs[1]])]


@register_vectorization("TensorListPopBack")
def pop_back(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """A list without the last, and that."""
    items = _items_of(op, inputs[0])
    return [_list(op, items[:-1]), _item(block, op, items, len(items) - 1)]


@register_vectorization("TensorListStack")
def stack_items(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """All that a list holds."""
    items = _items_of(op, inputs[0])
    rows = [block.all_rows(_item(block, op, items, i)) for i in range(len(items))]
    return [tf.stack(rows, 1)]


@register_vectorization("TensorListLength")
def length(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """The same for all rows."""
    return [block.once(lambda: tf.constant(len(_items_of(op, inputs[0]))))]
