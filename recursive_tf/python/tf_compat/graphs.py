"""Function graphs that are built by hand, op by op."""

import contextlib
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

import tensorflow as tf
from tensorflow.core.framework.attr_value_pb2 import AttrValue
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.eager import backprop_util
from tensorflow.python.framework import auto_control_deps_utils, ops
from tensorflow.python.framework.func_graph import FuncGraph, dismantle_func_graph
from tensorflow.python.framework.ops import EagerTensor
from tensorflow.python.ops import handle_data_util

_PREFIX = "__recursive_"


def default_graph() -> tf.Graph:
    """Returns the graph that ops are added to now."""
    return ops.get_default_graph()


def unique_name(base: str) -> str:
    """Returns a function name that this process never used before.

    TensorFlow returns the old function when a name is used again in a context.
    """
    base = base.removeprefix(_PREFIX).rstrip("0123456789_")
    return f"{_PREFIX}{op_name(base)}_{ops.uid()}"


def scope_of(op: tf.Operation) -> AbstractContextManager[Any]:
    """Returns a context in which ops get names beside that of `op`."""
    scope = op.name.rpartition("/")[0]
    return named(scope) if scope else contextlib.nullcontext()


def named(scope: str) -> AbstractContextManager[Any]:
    """Returns a context in which names of ops begin with a scope, and no other."""
    context: AbstractContextManager[Any] = tf.name_scope(f"{scope}/")
    return context


def op_name(text: str) -> str:
    """Returns `text` with only what TensorFlow allows in names of ops."""
    safe = "".join(c if c.isascii() and c.isalnum() else "_" for c in text)
    return safe.lstrip("_") or "unnamed"


def graph_chain(graph: tf.Graph) -> Iterator[tf.Graph]:
    """Yields `graph` and the graphs that enclose it, from inside out."""
    while graph is not None:
        yield graph
        graph = getattr(graph, "outer_graph", None)


def placeholder_like(
    graph: tf.Graph, like: tf.Tensor | tf.TensorSpec, name: str | None = None
) -> tf.Tensor:
    """Adds to `graph` a placeholder for what is known before run time about `like`."""
    # As `tf.raw_ops.Placeholder` does, which takes four times as long.
    op = graph._create_op_internal(
        "Placeholder",
        [],
        [like.dtype],
        name=name,
        attrs={
            "dtype": AttrValue(type=like.dtype.as_datatype_enum),
            "shape": AttrValue(shape=tf.TensorShape(like.shape).as_proto()),
        },
    )
    tensor: tf.Tensor = op.outputs[0]
    if isinstance(like, tf.Tensor):
        copy_static_info(like, tensor)
    return tensor


def copy_static_info(old: tf.Tensor, new: tf.Tensor) -> None:
    """Tells `new` what is known before run time about `old`."""
    if new.shape.rank is None or not new.shape.is_fully_defined():
        new.set_shape(old.shape)
    copy_handle_data(old, new)


def copy_handle_data(old: tf.Tensor, new: tf.Tensor) -> None:
    """Tells `new` what the handle `old` leads to, if it is one."""
    if old.dtype in (tf.resource, tf.variant):
        handle_data_util.copy_handle_data(old, new)


def forget_outside(graph: FuncGraph) -> None:
    """Makes a graph hold nothing of the graph that it was made in."""
    graph._collections = {}


def dismantle(graph: FuncGraph) -> None:
    """Frees a graph that nobody uses any more.

    Its ops and tensors refer to each other. So otherwise they stay until the garbage
    collector looks for them, and come sooner to the point where it looks through all
    that there is.
    """
    graph.inputs, graph.outputs = [], []
    graph._unfeedable_tensors.clear()  # Constants that were read.
    dismantle_func_graph(graph)


def content_of_handle(handle: tf.Tensor) -> bytes:
    """Returns what is known before run time about what a handle leads to."""
    data = handle_data_util.get_resource_handle_data(handle)
    return b"" if data is None else bytes(data.SerializeToString(deterministic=True))


def spec_of_variable(handle: tf.Tensor) -> tf.TensorSpec | None:
    """Returns the shape and dtype of a variable, if its handle tells."""
    if isinstance(handle, EagerTensor):
        data = handle._handle_data
    else:
        data = handle_data_util.get_resource_handle_data(handle)
    if data is None or not data.is_set or len(data.shape_and_type) != 1:
        return None
    [found] = data.shape_and_type
    return tf.TensorSpec(tf.TensorShape(found.shape), tf.as_dtype(found.dtype))


def without_function(handle: tf.Tensor) -> Any:
    """Returns the eager handle that one in a function stands for, if it is no variable.

    A tape that may differentiate a gradient lets nothing but variables out of a
    function whose gradient uses them.
    """
    data = handle_data_util.get_resource_handle_data(handle)
    if handle.dtype != tf.resource or (data is not None and data.is_set):
        return handle
    found: Any = handle
    while not isinstance(found, EagerTensor):
        captures = getattr(found.graph, "captures", [])
        outside = [outer for outer, inner in captures if inner is found]
        if not outside:
            return handle
        (found,) = outside
    return found


def may_hold_trainable(variant: tf.Tensor) -> bool:
    """Says whether a variant may be a list of tensors that have gradients."""
    return bool(backprop_util.IsTrainable(variant))


def add_control_inputs(op: tf.Operation, controls: Iterable[tf.Operation]) -> None:
    """Makes `op` wait for `controls`."""
    op._add_control_inputs(list(controls))


def is_stateful(op: tf.Operation) -> bool:
    """Says whether TensorFlow treats `op` as having effects."""
    return bool(op._is_stateful)


def zeros_like(tensor: tf.Tensor) -> tf.Tensor:
    """Adds zeros, which are no constant: that might be as large as rows are many.

    Gradient functions leave out what they would multiply by these.
    """
    if not tensor.shape.is_fully_defined():
        return tf.zeros_like(tensor)
    zeros = tf.fill(tensor.shape, tf.zeros([], tensor.dtype))
    zeros._is_zeros_tensor = True
    return zeros


def evaluate_constant(tensor: tf.Tensor) -> Any:
    """Returns the value of what only depends on constants, or None."""
    graph = tensor.graph._c_graph
    return pywrap_tf_session.TF_TryEvaluateConstant_wrapper(
        graph, tensor._as_tf_output()
    )


def capture_placeholder(
    graph: FuncGraph, tensor: tf.Tensor, name: str | None
) -> tf.Tensor:
    """Captures an eager tensor as a placeholder, also where TensorFlow would copy it.

    TensorFlow makes constants of small eager tensors, which cuts their gradient.
    """
    captures = graph._function_captures
    return captures._create_placeholder_helper(graph, tensor, name or "capture")


def capture_stepwise(tensor: tf.Tensor) -> tf.Tensor:
    """Returns the default graph's tensor for one of a graph around it.

    Every graph in between captures it too, as gradients of conditionals need.
    """
    inside = []
    for graph in graph_chain(default_graph()):
        if graph is tensor.graph:
            break
        inside.append(graph)
    for graph in reversed(inside):
        tensor = graph.capture(tensor)
    return tensor


def set_captures(graph: FuncGraph, externals: list[tf.Tensor]) -> None:
    """Makes the inputs of `graph` stand for `externals`, in order."""
    graph._function_captures.reset_captures(externals, graph.inputs)


def mark_resources_read_only(op: tf.Operation) -> None:
    """Tells automatic control dependencies that `op` changes none of its resources."""
    indices = [i for i, t in enumerate(op.inputs) if t.dtype == tf.resource]
    ops.set_int_list_attr(
        op, auto_control_deps_utils.READ_ONLY_RESOURCE_INPUTS_ATTR, indices
    )


def kept_with(graph: tf.Graph) -> Mapping[Any, Any]:
    """Returns what `keep_with` made to live as long as `graph`, by whose it is."""
    kept: Mapping[Any, Any] = getattr(graph, "_recursive_kept", {})
    return kept


def keep_with(graph: tf.Graph, owner: Any, what: Any) -> None:
    """Makes `what` live as long as `graph` and `owner`."""
    if not kept_with(graph):
        graph._recursive_kept = weakref.WeakKeyDictionary()
    graph._recursive_kept[owner] = what
