"""Calls in bodies: what a call of a SubGraph adds to the body around it."""

from typing import Any

from recursive_tf.python.errors import UnknownOutputsError
from recursive_tf.python.tracing.control_flow import (
    in_place_of,
    outputs_of_sibling,
    shows_nothing,
)
from recursive_tf.python.tracing.function_graph import BodyGraph, add_call
from recursive_tf.python.tracing.signature import Signature
from recursive_tf.python.tracing.specs import count_of_rows, with_rows


def add_call_site(
    body: BodyGraph,
    callee: int,
    signature: Signature,
    tensors: list[Any],
    *,
    mapped: bool,
) -> Any:
    """Adds a call site to a body.

    Args:
        body: Of the caller.
        callee: The id of the SubGraph that is called.
        signature: Of the callee. What it returns is guessed if it is not known yet.
        tensors: The arguments, flat.
        mapped: Whether the callee is invoked for each row of them.

    Returns:
        What the callee returns.

    Raises:
        UnknownOutputsError: If nothing shows what it returns.
    """
    if signature.outputs is None:
        shown = _shown_outputs(signature.name)
        if shows_nothing(shown):
            call = add_call(body, callee, tensors, [], mapped=mapped)
            return in_place_of(shown, call)
        signature.guess_outputs(shown)
    outputs = signature.flat_outputs
    if mapped:
        rows = count_of_rows(tensors)
        outputs = [with_rows(spec, rows) for spec in outputs]
    call = add_call(body, callee, tensors, outputs, mapped=mapped)
    return signature.pack_outputs(call.outputs[:-1], mapped=mapped)


def _shown_outputs(name: str) -> Any:
    """Returns what a sibling branch shows that a SubGraph may return."""
    missing = UnknownOutputsError(
        f"SubGraph '{name}' is called before `.output`, and no branch of a "
        "conditional around the call shows what it returns. Say it when the "
        f'SubGraph is made, e.g.\n    SubGraph("{name}", '
        "output_signature=tf.TensorSpec([150], tf.float32))"
    )
    found = outputs_of_sibling()
    if found is None:
        raise missing
    return found
