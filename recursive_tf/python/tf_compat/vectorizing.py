"""What `tf.vectorized_map` knows of ops."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.ops.parallel_for import pfor


def is_elementwise(op_type: str) -> bool:
    """Says whether TensorFlow vectorizes ops of this type element by element."""
    converter = pfor._pfor_converter_registry.get(op_type)
    return bool(converter is pfor._convert_cwise)


def has_converter(op_type: str) -> bool:
    """Says whether `tf.vectorized_map` knows ops of this type."""
    return op_type in pfor._pfor_converter_registry


def register_converter(op_type: str, convert: Callable[..., Any]) -> None:
    """Tells `tf.vectorized_map` how an op runs for many rows.

    Args:
        op_type: Of the op.
        convert: Takes the op, each input with whether it has rows in front, and the
            number of rows; returns the same for each output.
    """

    def converter(pfor_input: Any) -> list[Any]:
        inputs = [(wrapped.t, wrapped.is_stacked) for wrapped in pfor_input.inputs]
        num_rows = pfor_input.pfor.loop_len_vector[0]
        results = convert(pfor_input.op, inputs, num_rows)
        return [pfor.wrap(tensor, has_rows) for tensor, has_rows in results]

    pfor.RegisterPFor(op_type)(converter)


def convert_by_vectorized_map(
    op: tf.Operation, inputs: Sequence[tuple[tf.Tensor, bool]], num_rows: int
) -> list[tuple[tf.Tensor, bool]]:
    """Adds what `tf.vectorized_map` makes of one op, in the default graph.

    Args:
        op: The op, as it stands for one row.
        inputs: For each input a tensor, and whether it has rows in front.
        num_rows: How many rows.

    Returns:
        For each output the same.
    """

    class Loop:
        loop_len_vector = tf.constant([num_rows])
        all_indices_partitioned = False
        all_indices = None
        loop_var = None
        fallback_to_while_loop = False
        pfor_config = None

    wrapped = [pfor.wrap(tensor, is_row) for tensor, is_row in inputs]
    convert = pfor._pfor_converter_registry[op.type]
    results = convert(pfor._PforInput(Loop(), op, wrapped))
    if isinstance(results, pfor.WrappedTensor):
        results = [results]
    return [(result.t, result.is_stacked) for result in results]
