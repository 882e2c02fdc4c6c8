"""The graph of a SubGraph's body while it is traced, and the ops put there."""

import contextlib
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python import tf_compat
from recursive_tf.python.errors import SubGraphError

CALL = "TracedRecursiveCall"
MAP = "TracedRecursiveMap"
PUSH = "TracedRecursivePush"
SHARED_CALL = "TracedRecursiveSharedCall"


class BodyGraph(tf_compat.FuncGraph):
    """A SubGraph's body: what it uses of the outside becomes a capture.

    Attributes:
        subgraph_name: For errors.
        handle: The hidden first input, which names the activation at run time.
        callees: The SubGraphs that the body calls, by id. A superset: tracing may
            run a part of a body twice, so call sites are read from the graph.
    """

    def __init__(self, subgraph_name: str) -> None:
        super().__init__(tf_compat.unique_name(subgraph_name))
        self.subgraph_name = subgraph_name
        self.callees: dict[int, Any] = {}
        with self.as_default():
            self.handle = self.add_input(tf.TensorSpec([], tf.variant), "handle")
        tf_compat.remember_line_around(self, self.handle.op)

    def add_input(self, spec: tf.TensorSpec, name: str) -> tf.Tensor:
        """Returns a new input."""
        with self.as_default():
            tensor = tf.raw_ops.Placeholder(
                dtype=spec.dtype, shape=spec.shape, name=name
            )
        self.inputs.append(tensor)
        return tensor

    def capture(self, tensor: Any, name: str | None = None, shape: Any = None) -> Any:
        """Returns the body's own tensor for an outer one."""
        if isinstance(tensor, tf_compat.EagerTensor):
            if tensor.dtype.is_floating or tensor.dtype.is_complex:
                return tf_compat.capture_placeholder(self, tensor, name)
        elif tensor.graph is not self:
            self._check_scope(tensor)
        return super().capture(tensor, name)

    def _check_scope(self, tensor: tf.Tensor) -> None:
        owner = enclosing_body(tensor.graph)
        if owner is None or owner in tf_compat.graph_chain(self):
            return
        raise SubGraphError(
            f"{tensor.name} belongs to the body of SubGraph '{owner.subgraph_name}' "
            f"and cannot be used in the body of SubGraph '{self.subgraph_name}'. "
            f"Return it from '{owner.subgraph_name}', or pass it as an input."
        )


def start_tracing(body: BodyGraph) -> contextlib.ExitStack:
    """Makes ops that follow those of `body`, until what is returned is closed."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(tf_compat.pause_outer_tapes())
        stack.enter_context(tf_compat.keep_caching_device())
        stack.enter_context(body.as_default())
        # Keeps effects that no output depends on: prints, assertions.
        controls = tf_compat.AutomaticControlDependencies()
        stack.callback(lambda: body.control_outputs.extend(controls.ops_which_must_run))
        stack.enter_context(controls)
        return stack.pop_all()


def enclosing_body(graph: tf.Graph) -> BodyGraph | None:
    """Returns the innermost body that `graph` is or is a part of, or None."""
    for g in tf_compat.graph_chain(graph):
        if isinstance(g, BodyGraph):
            return g
    return None


def owner_of(tensor: tf.Tensor) -> BodyGraph | None:
    """Returns the body that an outer tensor is of, or None outside of all bodies."""
    if isinstance(tensor, tf_compat.EagerTensor):
        return None
    return enclosing_body(tensor.graph)


def add_call(
    body: BodyGraph,
    callee_id: int,
    args: Sequence[tf.Tensor],
    outputs: Sequence[tf.TensorSpec],
    *,
    mapped: bool,
) -> tf.Operation:
    """Adds a call site to the graph being traced, within `body`.

    Its results are the outputs of what is returned, but for the last.

    Args:
        body: Whose handle the call takes.
        callee_id: The SubGraph's.
        args: Of the call; with rows in front if it is mapped.
        outputs: What it returns; the same. Nothing if no result is used: what the
            callee returns is known when the program is closed.
        mapped: Whether to invoke the callee once for each row.
    """
    add = library.traced_recursive_map if mapped else library.traced_recursive_call
    results = add(
        handle=body.handle,
        args=list(args),
        subgraph=callee_id,
        Toutputs=[spec.dtype for spec in outputs],
        output_shapes=[spec.shape for spec in outputs],
        name="map" if mapped else "call",
    )
    return results.activation.op


def add_shared_call(
    front: BodyGraph,
    body_id: int,
    key: tf.Tensor,
    args: Sequence[tf.Tensor],
    outputs: Sequence[tf.TensorSpec],
) -> list[tf.Tensor]:
    """Adds the call of a memoized SubGraph's body to its front.

    Args:
        front: The graph being traced.
        body_id: What the body is called by.
        key: Calls with the same key share an invocation.
        args: Of the body.
        outputs: What it returns.
    """
    results = library.traced_recursive_shared_call(
        handle=front.handle,
        key=key,
        args=list(args),
        subgraph=body_id,
        Toutputs=[spec.dtype for spec in outputs],
        output_shapes=[spec.shape for spec in outputs],
        name="shared",
    )
    return list(results.outputs)


def add_push(
    body: BodyGraph, name: str, value: tf.Tensor, index: Any, size: Any
) -> None:
    """Adds a push to the graph being traced, within `body`."""
    library.traced_recursive_push(
        handle=body.handle,
        index=_as_integer(index, f"index= of push '{name}'"),
        value=value,
        size=_as_integer(size, f"size= of push '{name}'"),
        table=name,
    )


def _as_integer(value: Any, what: str) -> tf.Tensor:
    tensor = tf.convert_to_tensor(value)
    if not tensor.dtype.is_integer:
        raise SubGraphError(f"{what} is {tensor.dtype.name}: it must be an integer.")
    return tf.cast(tensor, tf.int64)
