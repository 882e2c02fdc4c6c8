"""Tapes and accumulators that record around a graph."""

import contextlib
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import forwardprop_util, record
from tensorflow.python.framework.func_graph import FuncGraph
from tensorflow.python.framework.ops import EagerTensor
from tensorflow.python.ops import resource_variable_ops

from recursive_tf.python.tf_compat.graphs import default_graph


def pause_outer_tapes() -> AbstractContextManager[None]:
    """Stops this thread's gradient tapes, if there are any, while a body is traced.

    A persistent or nested tape would have TensorFlow wrap every conditional in a
    function and differentiate that at once, calls of unfinished SubGraphs included.
    The tapes need nothing of a body: they record the root call.
    """
    if record.could_possibly_record():
        paused: AbstractContextManager[None] = record.stop_recording()
        return paused
    return contextlib.nullcontext()


def watched_variables(graph: FuncGraph) -> list[tf.Variable]:
    """Returns the variables that were read while `graph` was traced."""
    return sorted(graph._watched_variables, key=id)


def variable_accessed(variable: tf.Variable) -> None:
    """Tells gradient tapes and enclosing functions that `variable` is read here."""
    resource_variable_ops.variable_accessed(variable)


def tell_watchers(function: Any) -> None:
    """Tells `tf.recompute_grad` and `tf.custom_gradient` what a traced function reads.

    They watch variables in a call that no tape records, and only where one records does
    TensorFlow's function tell of its variables by itself.
    """
    if not record.could_possibly_record():
        for variable in function.graph.variables:
            variable_accessed(variable)


def show_tapes(op: tf.Operation) -> None:
    """Tells gradient tapes of an op that was added to a graph as it is.

    They learn by themselves of ops that a function of TensorFlow adds.
    """
    attributes: list[Any] = []
    for attribute in op.op_def.attr:
        attributes += [attribute.name, op.get_attr(attribute.name)]
    tf.__internal__.record_gradient(op.type, op.inputs, tuple(attributes), op.outputs)


def have_tangents(tensors: Iterable[Any]) -> bool:
    """Says whether a `tf.autodiff.ForwardAccumulator` follows inputs of an op.

    They are not looked at if nothing follows anything. Of slices it is their values.
    """
    if not record.could_possibly_record():
        return False
    tensors = [t.values if isinstance(t, tf.IndexedSlices) else t for t in tensors]
    graph = default_graph()
    if isinstance(graph, FuncGraph):
        captured = {id(outer): inner for outer, inner in graph.captures}
        tensors = [captured.get(id(t), t) for t in tensors]
        # What stands for an eager tensor in a function is followed if that is, and
        # nothing is paused.
        tensors = [graph.capture(t) if _is_followed_eagerly(t) else t for t in tensors]
    return any(map(_is_followed, tensors))


def _is_followed_eagerly(tensor: Any) -> bool:
    return isinstance(tensor, EagerTensor) and _is_followed(tensor)


def _is_followed(tensor: Any) -> bool:
    return bool(forwardprop_util.pack_tangents([tensor]).tangents)
