"""Rules of assertions and prints: one check of all rows, and a line for each.

The error is of the first row that fails, and names its invocation.
"""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules.table import (
    register_list_rule,
    register_vectorization,
)
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock


@register_list_rule("Assert")
@register_vectorization("Assert")
def assertion(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Of all rows; what the error shows is of the first that fails."""
    condition, *data = inputs
    library.recursive_assert_rows(
        conditions=block.all_rows(condition),
        data=[_part(block, operand) for operand in data],
        **_forms(data),
        summarize=op.get_attr("summarize"),
    )
    return []


@register_vectorization("CheckNumerics", "CheckNumericsV2")
def check_numerics(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The same of what is no number. Its gradient checks the gradient."""
    return [
        library.recursive_check_numerics_rows(
            tensor=block.all_rows(inputs[0]),
            message=op.get_attr("message"),
            tells_sign=op.type == "CheckNumericsV2",
            has_rows=not block.is_of_items,
        )
    ]


@register_list_rule("StringFormat")
@register_vectorization("StringFormat")
def string_format(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """A text of each row."""
    return [
        library.recursive_format_rows(
            inputs=[_part(block, operand) for operand in inputs],
            **_forms(inputs),
            template=op.get_attr("template"),
            placeholder=op.get_attr("placeholder"),
            summarize=op.get_attr("summarize"),
        )
    ]


@register_vectorization("PrintV2")
def print_lines(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """A line of each row, one after the other."""
    end = tf.compat.as_str(op.get_attr("end"))
    lines = tf.strings.reduce_join(block.all_rows(inputs[0]), 0, separator=end)
    return block.add_like(op, [lines])


def _part(block: VectorizedBlock, operand: Operand) -> tf.Tensor:
    """Returns what a text shows: of a list the items of all rows."""
    if operand.axis is None:
        return block.tensor(operand)
    return tf.reshape(operand.tensor, [operand.axis.num_items, *operand.shape[1:]])


def _forms(operands: list[Operand]) -> dict[str, Any]:
    """Returns what says whose the rows and items of the parts are."""
    axes = [(i, o.axis) for i, o in enumerate(operands) if o.axis is not None]
    return {
        "has_rows": [operand.is_row for operand in operands],
        "lists": [i for i, _ in axes],
        "lengths": [axis.lengths for _, axis in axes],
    }
