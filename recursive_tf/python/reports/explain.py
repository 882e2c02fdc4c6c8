"""`rtf.explain`: how programs run, and why."""

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.reports.explained_program import (
    ExplainedProgram,
    program_of_op,
    program_of_root_call,
)
from recursive_tf.python.reports.explanation import Explanation, Explanations
from recursive_tf.python.root_calls.root_op import ROOT_OPS
from recursive_tf.python.subgraphs.decorator import SubGraphFunction
from recursive_tf.python.subgraphs.subgraph import SubGraph, root_call_of
from recursive_tf.python.subgraphs.tracebacks import called_by_users
from recursive_tf.python.vertices.vertex_function import (
    VertexFunction,
    traced_function_of,
)

# These carry procedures, in which there is no root call.
_GRADIENTS = tuple(f"{op_type}Gradient" for op_type in ROOT_OPS)
_CARRIERS = (*ROOT_OPS, *_GRADIENTS, "RecursivePorts")


@called_by_users
def explain(what: Any, *, passes: bool = False) -> Explanation | Explanations:
    """Says what runs a program, why, and what its last run did.

    Print what it returns. Before a run, it shows the executor and the plan. After a
    run, it also shows launches and times. That run may have been before the
    explanation: a program keeps what its last run counted. As long as the explanation
    exists, runs count more, which costs a little time: the lower bound of launches, the
    peaks of products, and why blocks are not compiled.

    >>> with SubGraph("fib") as fib:
    ...     n = fib.input(tf.int32)
    ...     fib.output(tf.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
    >>> explanation = explain(fib)
    >>> explanation.executor
    'batched'
    >>> int(fib(6))
    8
    >>> sum(explanation.launches.values()), explanation.lower_bound
    (11, 11)

    Args:
        what: One of these. A SubGraph; it need not have been called. A function that
            `rtf.subgraph` or `rtf.vertex` decorates; it must have been called eagerly.
            A `tf.function` that was traced, or a concrete function; it may be loaded
            from a file, and all root calls in it are explained.
        passes: Whether the text also has what each pass of the compiler made of the
            program, op by op: `explanation.program.passes()`.

    Returns:
        An explanation. If a function has root calls of several programs, a sequence of
        explanations, in the order of the calls.

    Raises:
        SubGraphError: If a SubGraph is not defined or cannot run in the executor that
            was chosen; if a function was not traced or makes no root call.
        TypeError: If there is nothing to explain about such an object.
    """
    if isinstance(what, SubGraph):
        return Explanation(program_of_root_call(root_call_of(what)), passes=passes)
    if isinstance(what, SubGraphFunction):
        programs = _programs_of_decorated(what)
    elif isinstance(what, VertexFunction):
        programs = _programs_of(traced_function_of(what), _name_of(what))
    else:
        programs = _programs_of(what)
    found = [Explanation(program, passes=passes) for program in programs]
    return found[0] if len(found) == 1 else Explanations(found)


def _programs_of_decorated(function: SubGraphFunction) -> list[ExplainedProgram]:
    if not function.subgraphs:
        raise SubGraphError(
            f"{_name_of(function)} was not called yet, so it has no SubGraph. Call it "
            "first, or pass what its subgraph_for(...) returns."
        )
    return [program_of_root_call(root_call_of(s)) for s in function.subgraphs]


def _programs_of(function: Any, name: str | None = None) -> list[ExplainedProgram]:
    found: dict[str, ExplainedProgram] = {}
    name = name or _name_of(function)
    for traced in _traced(function, name):
        for op in _root_calls(traced.graph, set()):
            program = program_of_op(op)
            found.setdefault(program.key, program)
    if not found:
        raise SubGraphError(f"{name} makes no root call: it calls no SubGraph.")
    return list(found.values())


def _traced(function: Any, name: str) -> list[Any]:
    if isinstance(function, tf.types.experimental.ConcreteFunction):
        return [function]
    if not hasattr(function, "get_concrete_function"):
        raise TypeError(
            f"There is nothing to explain about {function!r}. Give a SubGraph, or a "
            "tf.function."
        )
    traced = tf_compat.traced_functions(function)
    if not traced:
        raise SubGraphError(
            f"{name} was not traced yet. Call it first, or give what a tf.function's "
            "get_concrete_function(...) returns."
        )
    return traced


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", None)
    return repr(function) if name is None else f"The function '{name}'"


def _root_calls(graph: tf.Graph, seen: set[str]) -> Iterator[tf.Operation]:
    """Yields the root ops of a graph and of the functions that its ops name, once."""
    for op in graph.get_operations():
        if op.type in ROOT_OPS:
            yield op
        if op.type in _CARRIERS:
            continue
        for name in tf_compat.function_names(op):
            if name not in seen:
                seen.add(name)
                function = tf_compat.find_function(op.graph, name)
                yield from _root_calls(tf_compat.to_func_graph(function), seen)
