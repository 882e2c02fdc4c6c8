"""Computes outside of a body what depends on nothing inside of it."""

from collections.abc import Callable

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.program.graph_copy import GraphCopy
from recursive_tf.python.tracing.function_graph import enclosing_body

_READS = frozenset(("ReadVariableOp", "VariableShape"))


def hoist(
    copy: GraphCopy,
    tensor: tf.Tensor,
    place: Callable[[tf.Tensor], tf.Tensor],
    what: str,
) -> tf.Tensor:
    """Returns `tensor`, of a traced body or branch, computed in the default graph.

    Args:
        copy: The copy of the graph that the tensor is in; it knows the graphs around.
        tensor: What to compute.
        place: Returns what an outer tensor is in the default graph.
        what: Names the tensor in errors.

    Raises:
        SubGraphError: If it depends on an input of a body, or on an effect.
    """
    around, tensor = copy.origin(tensor)
    op = tensor.op
    external = around.outside.external_of(tensor)
    if external is not None:
        if not isinstance(external, tf_compat.EagerTensor) and enclosing_body(
            external.graph
        ):
            _refuse(what, f"{external.name}, which another SubGraph's body computes")
        return place(external)
    if op.type == "Placeholder":
        _refuse(what, "an input of the body")
    if tf_compat.is_stateful(op) and op.type not in _READS:
        _refuse(what, f"{op.name}, which has an effect")
    inputs = [hoist(around, i, place, what) for i in op.inputs]
    new = tf_compat.create_op(tf_compat.default_graph(), op, inputs)
    return new.outputs[tensor.value_index]


def _refuse(what: str, reason: str) -> None:
    raise SubGraphError(
        f"{what} depends on {reason}. The table is made before any invocation runs: "
        "compute it outside of the SubGraph."
    )
