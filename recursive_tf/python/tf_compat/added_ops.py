"""Ops that are added like others."""

from collections.abc import Sequence

import tensorflow as tf

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
    _add_functions_of(graph, source)
    attrs = source.node_def.attr.items()
    op = graph._create_op_internal(
        source.type,
        list(inputs),
        [output.dtype for output in source.outputs],
        name=name,
        attrs={key: value for key, value in attrs if not key.startswith("_")},
    )
    set_origin(op, source)
    return op


def _add_functions_of(graph: tf.Graph, op: tf.Operation) -> None:
    for name in function_names(op):
        add_function(graph, find_function(op.graph, name))
