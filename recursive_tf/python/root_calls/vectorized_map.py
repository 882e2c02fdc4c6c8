"""Root calls in `tf.vectorized_map`: a call for each row is one mapped root call."""

from typing import Any, NoReturn

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.root_calls.root_op import ROOT_OPS


def register() -> None:
    """Tells TensorFlow, which refuses a second time."""
    for op_type in ROOT_OPS:
        tf_compat.register_converter(op_type, _map_rows)


def _map_rows(
    op: tf.Operation, inputs: list[tuple[tf.Tensor, bool]], num_rows: tf.Tensor
) -> list[tuple[tf.Tensor, bool]]:
    """Adds the root call of all rows.

    Args:
        op: The root call of one row.
        inputs: What its inputs are, and whether with rows in front.
        num_rows: A scalar.

    Returns:
        For each output the same.

    Raises:
        SubGraphError: If that would not be the same.
    """
    num_args = len(op.get_attr("Targs"))
    _check(op, num_args, [has_rows for _, has_rows in inputs[num_args:]])
    is_mapped = op.get_attr("mapped")
    args = [_with_rows(*pair, num_rows) for pair in inputs[:num_args]]
    outer_shape = [num_rows]
    if is_mapped:  # Rows of rows.
        outer_shape = [num_rows, tf.shape(args[0])[1]]
        args = [_reshape(arg, [-1], 2) for arg in args]
    rest = [tensor for tensor, _ in inputs[num_args:]]
    with tf.name_scope("vectorized_map"):
        mapped = tf_compat.add_like(tf_compat.default_graph(), op, [*args, *rest])
    tf_compat.set_attr(mapped, "mapped", tf_compat.AttrValue(b=True))
    tf_compat.show_tapes(mapped)
    *outputs, activation = mapped.outputs
    if is_mapped:
        outputs = [_reshape(output, outer_shape, 1) for output in outputs]
    return [*((output, True) for output in outputs), (activation, False)]


def _check(op: tf.Operation, num_args: int, captures_have_rows: list[bool]) -> None:
    if op.get_attr("keep"):
        _refuse(op, "a gradient is taken of it there", "Take it of the map's result")
    if not num_args:
        _refuse(op, "it has no input", "Call it before, once")
    if op.get_attr("push_names"):
        _refuse(op, "its rows would push to the same tables", "Use `.map`")
    if any(captures_have_rows):
        _refuse(
            op,
            "it captures a tensor, or a seed, that differs from row to row",
            "Make the tensor an input, or use `.map`",
        )


def _refuse(op: tf.Operation, why: str, cure: str) -> NoReturn:
    name = op.get_attr("names")[0].decode()
    raise SubGraphError(
        f"A root call of SubGraph '{name}' in a tf.vectorized_map: {why}. {cure}."
    )


def _with_rows(tensor: tf.Tensor, has_rows: bool, num_rows: tf.Tensor) -> tf.Tensor:
    if has_rows:
        return tensor
    return tf.broadcast_to(tensor, tf.concat([[num_rows], tf.shape(tensor)], 0))


def _reshape(tensor: tf.Tensor, leading: list[Any], count: int) -> tf.Tensor:
    """Returns a tensor with other dimensions instead of the first `count`."""
    return tf.reshape(tensor, tf.concat([leading, tf.shape(tensor)[count:]], 0))
