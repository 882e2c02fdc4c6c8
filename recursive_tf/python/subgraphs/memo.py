"""`memo=`: invocations with the same key are one.

What is defined becomes a SubGraph of two bodies. All calls, also root calls and maps,
are of its front: that computes the key and makes a shared call of the second, which is
what the user defined.
"""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.program import Definition
from recursive_tf.python.program.trainable import is_trainable
from recursive_tf.python.tracing.function_graph import (
    BodyGraph,
    add_shared_call,
    start_tracing,
)
from recursive_tf.python.tracing.signature import Signature
from recursive_tf.python.tracing.specs import flat_tensors, format_spec, spec_of

_KEYS = (tf.int32, tf.int64)


def check_memo(memo: Any) -> None:
    """Raises TypeError if it is no function."""
    if memo is not None and not callable(memo):
        raise TypeError(
            f"memo= is a function of the inputs, e.g. `lambda node: node`, but this is "
            f"{memo!r}."
        )


def check_input(signature: Signature, structure: Any) -> None:
    """Raises SubGraphError if the next input of a memoized SubGraph is differentiable.

    Invocations that share would each need a gradient by an argument of their own, of
    which all but one were never looked at.
    """
    for spec in flat_specs(structure):
        if is_trainable(spec.dtype) or spec.dtype == tf.variant:
            raise SubGraphError(
                f"Input {len(signature.inputs)} of SubGraph '{signature.name}' is "
                f"{format_spec(spec)}, and with memo= no input may be differentiable: "
                "invocations with one key share the inputs of one of them. Use the "
                "tensor from outside of the body, and look up in it by an integer "
                "input, e.g. tf.gather(values, node)."
            )


def flat_specs(structure: Any) -> list[tf.TensorSpec]:
    """Returns the specs of the tensors of a structure."""
    return list(tf.nest.flatten(structure, expand_composites=True))


def make_front(body: Definition, memo: Callable[..., Any]) -> BodyGraph:
    """Returns the body that is called instead of a memoized SubGraph's own.

    Args:
        body: What was defined.
        memo: Takes its inputs, and gives the key.

    Raises:
        SubGraphError: If that is no key.
    """
    signature = body.signature
    front = BodyGraph(body.name)
    front.callees[body.id] = body
    with start_tracing(front):
        inputs = [front.add_input(spec, "input") for spec in signature.flat_inputs]
        arguments = tf.nest.pack_sequence_as(
            signature.inputs, inputs, expand_composites=True
        )
        key = _as_key(memo(*arguments), body.name)
        front.outputs = add_shared_call(
            front, body.id, key, inputs, signature.flat_outputs
        )
    return front


def _as_key(value: Any, name: str) -> tf.Tensor:
    tensors = flat_tensors(value)
    key = tensors[0] if len(tensors) == 1 else None
    if key is None or key.dtype not in _KEYS or key.shape.rank not in (0, None):
        found = ", ".join(format_spec(spec_of(tensor)) for tensor in tensors)
        raise SubGraphError(
            f"memo= of SubGraph '{name}' gives {found or 'nothing'}: a key is one "
            "scalar of int32 or int64. Make one number of several, e.g. "
            "`lambda i, j: i * width + j`."
        )
    return key
