"""Ops that are added like others."""

from collections.abc import Mapping, Sequence

import tensorflow as tf
from tensorflow.core.framework.attr_value_pb2 import AttrValue

from recursive_tf.python.tf_compat.attributes import attributes_of
from recursive_tf.python.tf_compat.functions import (
    add_function,
    find_function,
    function_names,
)
from recursive_tf.python.tf_compat.graphs import copy_static_info
from recursive_tf.python.tf_compat.origins import set_origin


def create_op(
    graph: tf.Graph,
    source: tf.Operation,
    inputs: Sequence[tf.Tensor],
) -> tf.Operation:
    """Adds to `graph` an op like `source` with other inputs, and what it names."""
    _add_functions_of(graph, source)
    op = graph._create_op_internal(
        source.type,
        list(inputs),
        [output.dtype for output in source.outputs],
        name=source.name,
        attrs={k: v for k, v in source.node_def.attr.items() if k != "_class"},
        op_def=source.op_def,
    )
    for old, new in zip(source.outputs, op.outputs, strict=True):
        copy_static_info(old, new)
    return op


def add_like(
    graph: tf.Graph,
    source: tf.Operation,
    inputs: Sequence[tf.Tensor],
    name: str | None = None,
) -> tf.Operation:
    """Adds to `graph` an op of the kind of `source`, for inputs of other shapes."""
    attrs = attributes_of(source)
    return add_op(graph, source.type, inputs, attrs, name=name, source=source)


def add_op(
    graph: tf.Graph,
    op_type: str,
    inputs: Sequence[tf.Tensor],
    attrs: Mapping[str, AttrValue],
    *,
    name: str | None,
    source: tf.Operation | None,
) -> tf.Operation:
    """Adds an op to `graph`.

    Args:
        graph: The graph.
        op_type: Of the op.
        inputs: What it takes.
        attrs: Its attributes.
        name: Of the op, if that is not to be `op_type`.
        source: What it stands for, if anything. What that names is there too.
    """
    if source is not None:
        _add_functions_of(graph, source)
    op = graph._create_op_internal(op_type, list(inputs), name=name, attrs=attrs)
    if source is not None:
        set_origin(op, source)
    return op


def _add_functions_of(graph: tf.Graph, op: tf.Operation) -> None:
    for name in function_names(op):
        add_function(graph, find_function(op.graph, name))
