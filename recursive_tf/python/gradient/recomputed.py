"""The gradient of a batched root call that cannot be batched itself."""

from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.gradient.root_gradient import gradient_of_invoke
from recursive_tf.python.root_calls.fallback import fell_back
from recursive_tf.python.root_calls.root_op import Carried, Chosen, add_root_op


def gradient_by_recomputing(
    op: tf.Operation, gradients: tuple[Any, ...], error: CannotBatchError
) -> list[Any]:
    """Calls the program once more, in the dataflow executor, and differentiates that.

    A program that is batched has no effects, and its random numbers follow from a key
    that is an argument: it gives the same again.

    Args:
        op: The root op, of the batched executor.
        gradients: Of its outputs.
        error: Why its gradient is not batched.

    Returns:
        A gradient or None for each input of the op.
    """
    carried = Carried.by(op)
    fell_back(f"The gradient of SubGraph '{carried.names[0]}'", error)
    num_args, num_captures = (len(op.get_attr(name)) for name in ("Targs", "Tcaptures"))
    inputs = [tf_compat.without_function(tensor) for tensor in op.inputs]
    results = add_root_op(
        carried,
        Chosen(None, {}, [f"Its gradient is not batched: {error}"]),
        args=inputs[:num_args],
        captures=inputs[num_args : num_args + num_captures],
        push_sizes=inputs[num_args + num_captures :],
        name=carried.names[0],
    )
    again = results.activation.op
    tf_compat.mark_resources_read_only(again)
    return gradient_of_invoke(again, *gradients[:-1], None)
