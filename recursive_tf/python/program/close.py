"""Closes a program: all procedures that a root call can reach, in one list.

Call sites name their callee by its index in that list, so no function names
itself, and the static graph stays acyclic although the program recurs.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.program.captures import OuterTensor
from recursive_tf.python.program.closed_graph import ClosedGraph
from recursive_tf.python.program.closed_program import Procedure, Program, Push
from recursive_tf.python.program.definition import Definition
from recursive_tf.python.program.draws import changes_something, draws_something
from recursive_tf.python.program.effects import contains, ops_within
from recursive_tf.python.program.graph_copy import GraphCopy, Outside
from recursive_tf.python.program.known_programs import KNOWN
from recursive_tf.python.program.lazy_pushes import find_lazy_pushes
from recursive_tf.python.program.path_keys import KEY
from recursive_tf.python.program.substitutions import CALLS, Closing
from recursive_tf.python.tracing.function_graph import owner_of


def close(
    entry: Definition,
    definition_of: Callable[[Any], Definition],
    compiler: int,
    *,
    lazily: bool = False,
) -> Program:
    """Returns the program of the procedures that `entry` reaches.

    Its graphs are those of an equal program, if one is known.

    Args:
        entry: What the root call invokes.
        definition_of: Returns the definition of a SubGraph that a body calls.
        compiler: Which rules the program would be compiled with.
        lazily: Whether what only pushes need is left to the end of the root call.

    Raises:
        SubGraphError: If a SubGraph that is called has no body, or one that uses
            what only exists inside of another body is called outside of it.
    """
    definitions = _reachable(entry, definition_of)
    hidden = _hidden_inputs(definitions)
    if hidden[entry.id]:
        _raise_called_outside(entry, hidden[entry.id][0])
    _check_shared(definitions, hidden)
    reads = not any(changes_something(d.body) for d in definitions)
    drawing = _drawing(definitions)
    lazy = []
    if lazily and reads:
        lazy = find_lazy_pushes(definitions, _used_by_others(hidden))
    closing = Closing(definitions, hidden, drawing, only_reads=reads, lazy=lazy)
    left_out = frozenset(op for push in lazy for op in push.ops)
    graphs: Sequence[ClosedGraph] = [
        _close_one(d, hidden[d.id], closing, left_out) for d in definitions
    ]
    if reads:
        graphs = KNOWN.same_as(graphs, compiler)
    return Program(
        procedures=[
            Procedure(d.name, tf_compat.make_function(graph), graph.capture_indices)
            for d, graph in zip(definitions, graphs, strict=True)
        ],
        captures=closing.captures,
        pushes=[Push(name, p.row, p.size_in) for name, p in closing.pushes.items()],
        only_reads=reads,
        takes_key=entry.id in drawing,
        variables=[v for d in definitions for v in tf_compat.watched_variables(d.body)],
        lazy=lazy,
    )


def _reachable(
    entry: Definition, definition_of: Callable[[Any], Definition]
) -> list[Definition]:
    """Returns `entry` and all that it calls, directly or not, nearest first."""
    found = {entry.id: entry}
    waiting = [entry]
    while waiting:
        definition = waiting.pop(0)
        for callee in _callees(definition):
            if callee not in found:
                found[callee] = definition_of(definition.body.callees[callee])
                waiting.append(found[callee])
    return list(found.values())


def _callees(definition: Definition) -> list[int]:
    """Returns the ids of the SubGraphs that a body really calls, in order."""
    calls = (op for op in ops_within(definition.body) if op.type in CALLS)
    return list(dict.fromkeys(op.get_attr("subgraph") for op in calls))


def _hidden_inputs(definitions: list[Definition]) -> dict[int, list[tf.Tensor]]:
    """Returns, by SubGraph, the captures that are local to a procedure around it.

    This is lambda lifting: they become inputs of every call to the SubGraph, and so
    of every procedure that calls it without being the one that has them.
    """
    hidden: dict[int, dict[int, tf.Tensor]] = {
        d.id: {id(t): t for t, _ in d.body.captures if owner_of(t) is not None}
        for d in definitions
    }
    callees = {d.id: _callees(d) for d in definitions}
    changed = True
    while changed:
        changed = False
        for d in definitions:
            for callee in callees[d.id]:
                for key, tensor in hidden[callee].items():
                    if owner_of(tensor) is not d.body and key not in hidden[d.id]:
                        hidden[d.id][key] = tensor
                        changed = True
    return {key: list(tensors.values()) for key, tensors in hidden.items()}


def _used_by_others(hidden: dict[int, list[tf.Tensor]]) -> set[int]:
    """Returns the ids of the tensors of bodies that other bodies use."""
    return {id(tensor) for tensors in hidden.values() for tensor in tensors}


def _drawing(definitions: list[Definition]) -> set[int]:
    """Returns the SubGraphs that draw random numbers, or call one that does."""
    found = {d.id for d in definitions if draws_something(d.body)}
    changed = True
    while changed:
        callers = {d.id for d in definitions if found.intersection(_callees(d))}
        changed = not callers <= found
        found |= callers
    return found


class _Captures(Outside):
    """What a body captures: arguments of its closed graph, made when they are used."""

    def __init__(
        self, definition: Definition, target: ClosedGraph, closing: Closing
    ) -> None:
        self._definition, self._target, self._closing = definition, target, closing
        self._outer = {id(inner): t for t, inner in definition.body.captures}
        self._inner = {id(t): inner for t, inner in definition.body.captures}
        self._is_sealed = False

    def seal(self) -> None:
        """Adds no more: a gradient may look for what is there."""
        self._is_sealed = True

    def add_leaf(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns an argument of the closed graph."""
        if self._is_sealed:
            return super().add_leaf(tensor)
        external = self._outer[id(tensor)]
        found: tf.Tensor | None = self._target.hidden.get(id(external))
        if found is not None:
            return found
        _check_within_reach(self._definition, external)
        index = self._closing.index_of(OuterTensor(external))
        return self._target.capture_argument(index, external)

    def external_of(self, tensor: tf.Tensor) -> tf.Tensor | None:
        """Returns what the body captured."""
        return self._outer.get(id(tensor))

    def inside(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns what stands for it in the body."""
        return self._inner.get(id(tensor), tensor)


def _close_one(
    definition: Definition,
    hidden: list[tf.Tensor],
    closing: Closing,
    left_out: Collection[tf.Operation],
) -> ClosedGraph:
    """Returns the closed graph of one SubGraph, without some ops."""
    target = ClosedGraph(tf_compat.unique_name(definition.name))
    captures = _Captures(definition, target, closing)
    copy = GraphCopy(definition.body, target, closing.rewrite, outside=captures)
    captured = {id(inner) for _, inner in definition.body.captures}
    for tensor in definition.body.inputs:
        if id(tensor) not in captured:
            copy.bind(tensor, target.add_input(tensor))
    if closing.takes_key(definition):
        target.add_key(KEY)
    target.hidden = {id(t): target.add_input(t) for t in hidden}
    copy.run(set(definition.body.get_operations()).difference(left_out))
    captures.seal()
    target.seal()
    _check_closed(definition, target)
    return target


def _check_within_reach(definition: Definition, external: tf.Tensor) -> None:
    """Checks that the process that runs a body holds what the body changes."""
    if external.dtype == tf.resource and tf_compat.is_in_another_process(external):
        raise SubGraphError(
            f"The program of SubGraph '{definition.name}' uses a variable or a table of"
            f" {external.device}, which is another process, and changes something. "
            "Bodies can read variables of other processes only in programs that change "
            "nothing: return what is to change, and change it outside."
        )


def _check_closed(definition: Definition, target: ClosedGraph) -> None:
    """Checks that no call is left in a function of an op that has no substitution."""
    for op in target.get_operations():
        if contains(op, CALLS):
            raise SubGraphError(
                f"The body of SubGraph '{definition.name}' calls a SubGraph inside of "
                f"a function that it hands to {op.type}. In a body, calls may stand in "
                "conditionals, loops and functions that are called: make it one of "
                "these, or make the call outside of the body."
            )


def _check_shared(
    definitions: list[Definition], hidden: dict[int, list[tf.Tensor]]
) -> None:
    """Checks that what invocations share depends on nothing but inputs."""
    for definition in definitions:
        if definition.is_shared and hidden[definition.id]:
            tensor = hidden[definition.id][0]
            owner = owner_of(tensor)
            assert owner is not None
            raise SubGraphError(
                f"SubGraph '{definition.name}' has memo=, but it, or one that it calls,"
                f" uses {tensor.name} of the body of SubGraph '{owner.subgraph_name}', "
                "which is another tensor in each invocation of that. Make it an input, "
                "and the key depend on it, or compute it outside of all bodies."
            )


def _raise_called_outside(entry: Definition, tensor: tf.Tensor) -> None:
    owner = owner_of(tensor)
    assert owner is not None
    raise SubGraphError(
        f"SubGraph '{entry.name}', or one that it calls, uses {tensor.name} of the "
        f"body of SubGraph '{owner.subgraph_name}', so it can only be called inside "
        f"of that body. Call it there, or make the tensor an input."
    )
