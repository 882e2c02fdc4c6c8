"""Functions that ops name, and the graphs that they are made of."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager.polymorphic_function import (
    atomic_function,
    tracing_compilation,
)
from tensorflow.python.eager.polymorphic_function.atomic_function import AtomicFunction
from tensorflow.python.framework import func_graph, op_def_registry
from tensorflow.python.framework.func_graph import FuncGraph
from tensorflow.python.ops import script_ops

from recursive_tf.python.tf_compat.graphs import graph_chain, unique_name


def find_function(graph: tf.Graph, name: str) -> AtomicFunction:
    """Returns the function `name` of `graph` or of a graph that encloses it."""
    for g in graph_chain(graph):
        function = g._get_function(name)
        if function is not None:
            return function
    raise KeyError(f"There is no function {name!r} in {graph!r}.")


def traced_functions(function: Any) -> list[Any]:
    """Returns the concrete functions that a `tf.function` was traced to so far.

    Where its signature is known it is traced for that.
    """
    if not hasattr(function, "_list_all_concrete_functions"):
        return [function.get_concrete_function()]
    found = list(function._list_all_concrete_functions())
    if getattr(function, "_created_variables", None) and len(found) > 1:
        # It was traced once to create variables, and then as it runs.
        first = function._concrete_variable_creation_fn
        found = [concrete for concrete in found if concrete is not first]
    return found


def function_names(op: tf.Operation) -> list[str]:
    """Returns the names of all functions in the attributes of `op`, as declared.

    For an If that is the branch for true and the one for false; a protobuf's map has
    no order of its own.
    """
    declared = _function_attributes(op.type)
    if not declared:  # Of most ops, and all attributes of an op cost a copy.
        return []
    attrs = op.node_def.attr
    names = []
    for name in declared:
        if name in attrs:
            value = attrs[name]
            names.append(value.func.name)
            names += [function.name for function in value.list.func]
    return [name for name in names if name]


@functools.cache
def _function_attributes(op_type: str) -> list[str]:
    """Returns the names of what are functions, or lists of them, of ops of a type."""
    op_def = op_def_registry.get(op_type)
    kinds = ("func", "list(func)")
    return [] if op_def is None else [a.name for a in op_def.attr if a.type in kinds]


def add_function(graph: tf.Graph, function: AtomicFunction) -> None:
    """Makes `graph` know `function` and what it calls."""
    graph._add_function_recursive(function)


def trace(function: Callable[[], Any], name: str) -> FuncGraph:
    """Returns the graph of a function without arguments."""
    return func_graph.func_graph_from_py_func(unique_name(name), function, [], {})


def make_function(graph: FuncGraph) -> AtomicFunction:
    """Returns a function of `graph` as it is now, under a new name."""
    return atomic_function.from_func_graph(unique_name(graph.name), graph, {})


def to_func_graph(function: AtomicFunction) -> FuncGraph:
    """Returns the graph that `function` was made of, or one like it."""
    return function.graph


def set_functions(op: tf.Operation, attr: str, functions: list[AtomicFunction]) -> None:
    """Sets the list of functions in attribute `attr` of `op`."""
    for function in functions:
        add_function(op.graph, function)
    op._set_func_list_attr(attr, [tf.compat.as_str(f.name) for f in functions])


def set_function(op: tf.Operation, attr: str, function: AtomicFunction) -> None:
    """Sets the function in attribute `attr` of `op`."""
    add_function(op.graph, function)
    op._set_func_attr(attr, tf.compat.as_str(function.name))


def set_loop_graphs(op: tf.Operation, condition: FuncGraph, body: FuncGraph) -> None:
    """Tells the gradient of a While the graphs that its functions were made of.

    Without, it makes graphs of the functions, and these lack the shapes of variables:
    in a loop in a loop, a variable then has no gradient.
    """
    op._cond_graph = condition
    op._body_graph = body


def set_branch_graphs(op: tf.Operation, branches: Sequence[FuncGraph]) -> None:
    """Tells the gradient of an If or a Case the same."""
    names = ["_true_graph", "_false_graph"]
    if "Case" in op.type:
        names = [f"_branch_graph_{i}" for i in range(len(branches))]
    for name, branch in zip(names, branches, strict=True):
        setattr(op, name, branch)


def python_function_of(op: tf.Operation) -> Callable[..., Any]:
    """Returns what a `tf.py_function` calls.

    Raises:
        NotImplementedError: If that is not in this process.
    """
    known = script_ops._py_funcs.get(tf.compat.as_str(op.get_attr("token")))
    if known is None:
        raise NotImplementedError(
            f"The Python function of {op.name} is not in this process. Python "
            "functions are not saved with a model."
        )
    function: Callable[..., Any] = known._func
    return function


def is_tracing_a_function(*, within: Callable[..., Any]) -> bool:
    """Says whether a `tf.function` is being traced, in a call of `within`."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code is not within.__code__:
        if frame.f_code is tracing_compilation.trace_function.__code__:
            return True
        frame = frame.f_back
    return False
