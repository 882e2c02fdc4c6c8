"""Whether a program only reads; and if not, in what order its effects happen."""

from collections.abc import Iterable, Iterator

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.tracing.function_graph import CALL, MAP, PUSH, SHARED_CALL

# Stateful ops whose result does not depend on when, or how often, they run, if nobody
# changes what they read.
_READS = frozenset(
    (
        "LookupTableFindV2",
        "LookupTableSizeV2",
        "ReadVariableOp",
        "ResourceGather",
        "ResourceGatherNd",
        "VariableShape",
    )
)
# What these do is in the functions that they name.
_OF_FUNCTIONS = frozenset(("Case", "If", "StatefulPartitionedCall", "While"))
# Stateful ops that neither change anything nor see what others change, if nobody
# else changes it. An assertion only fails, and a push writes a row of its own.
_ONLY_READS = _READS | {
    CALL,
    MAP,
    PUSH,
    SHARED_CALL,
    "Assert",
    "CheckNumerics",
    "CheckNumericsV2",
    *_OF_FUNCTIONS,
}

_CLOSED_CALLS = frozenset(("RecursiveCall", "RecursiveMap", "RecursiveSharedCall"))
# What does nothing else the second time that somebody runs a closed program.
_REPEATED = _ONLY_READS | _CLOSED_CALLS | {"PrintV2", "RecursiveKeep", "RecursivePush"}


def ops_within(graph: tf_compat.FuncGraph) -> Iterator[tf.Operation]:
    """Yields the ops of a graph and of the functions that they name."""
    for op in graph.get_operations():
        yield op
        yield from ops_of_functions(op)


def ops_of_functions(op: tf.Operation) -> Iterator[tf.Operation]:
    """Yields the ops of the functions that `op` names, and of those that they name."""
    for name in tf_compat.function_names(op):
        function = tf_compat.find_function(op.graph, name)
        yield from ops_within(tf_compat.to_func_graph(function))


def contains(op: tf.Operation, types: frozenset[str]) -> bool:
    """Says whether `op`, or an op of a function that it names, is one of `types`."""
    return op.type in types or any(o.type in types for o in ops_of_functions(op))


def has_effect(op: tf.Operation) -> bool:
    """Says whether it matters when, or how often, `op` runs.

    Of an op that names functions, what is in them decides: an If that reads a variable
    is stateful to TensorFlow, too.
    """
    if not tf_compat.is_stateful(op) or op.type in _READS:
        return False
    if op.type not in _OF_FUNCTIONS:
        return True
    return any(
        inner.type not in _OF_FUNCTIONS and has_effect(inner)
        for inner in ops_of_functions(op)
    )


def effects_in(graph: tf_compat.FuncGraph) -> list[tf.Operation]:
    """Returns the ops of a graph that are there also if nobody reads what they give."""
    return [op for op in graph.get_operations() if has_effect(op)]


def order_around_calls(graph: tf_compat.FuncGraph) -> None:
    """Makes effects and reads in a closed graph wait for the calls before them.

    And calls for what is before them. Automatic control dependencies do not: they
    order ops by the resources that are their inputs, and a call changes what its
    callees capture without taking it.
    """
    last_call: list[tf.Operation] = []
    since: list[tf.Operation] = []
    for op in graph.get_operations():
        if not tf_compat.is_stateful(op):
            continue
        is_call = contains(op, _CLOSED_CALLS)
        tf_compat.add_control_inputs(op, last_call + (since if is_call else []))
        if is_call:
            last_call, since = [op], []
        else:
            since.append(op)


def only_reads(op: tf.Operation) -> bool:
    """Says whether `op` itself has no effect that another op could see."""
    return op.type in _ONLY_READS or not tf_compat.is_stateful(op)


def effect_within(graphs: Iterable[tf_compat.FuncGraph]) -> tf.Operation | None:
    """Returns the first op for which closed procedures should not run once more."""
    ops = (op for graph in graphs for op in ops_within(graph))
    effects = (op for op in ops if tf_compat.is_stateful(op))
    return next((op for op in effects if op.type not in _REPEATED), None)
