"""Adds conditionals and loops whose branches are function graphs."""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.program.graph_copy import (
    GraphCopy,
    Rewrite,
    Turn,
    behind_identities,
    branch_graphs,
)
from recursive_tf.python.tf_compat import FuncGraph

_TURN = tf.TensorSpec([], tf.uint64)


def add_conditional(
    selector: tf.Tensor,
    branches: Sequence[FuncGraph],
    *,
    by_index: bool,
    name: str | None = None,
) -> tf.Operation:
    """Adds an If (or a Case) to the default graph.

    Args:
        selector: A bool scalar that selects the first branch where it is true; or,
            with `by_index`, an int32 scalar that is the branch's index.
        branches: Graphs that take nothing but captures, with like outputs.
        by_index: Whether to add a Case.
        name: Of the op.
    """
    inputs = _match_inputs(branches)
    names = [_name_of(branch) for branch in branches]
    outputs = list(zip(*(branch.outputs for branch in branches), strict=True))
    arguments = {
        "input": inputs,
        "Tout": [tensors[0].dtype for tensors in outputs],
        "output_shapes": [_join_shapes(tensors) for tensors in outputs],
        "name": name,
    }
    # Without outputs it is there for its effects; a stateless one would be no op.
    stateful = not outputs or any(_has_effects(branch) for branch in branches)
    if by_index:
        add = tf.raw_ops.Case if stateful else tf.raw_ops.StatelessCase
        results = add(branch_index=selector, branches=names, **arguments)
    else:
        add = tf.raw_ops.If if stateful else tf.raw_ops.StatelessIf
        results = add(
            cond=selector, then_branch=names[0], else_branch=names[1], **arguments
        )
    op = _op_of(results)
    tf_compat.set_branch_graphs(op, branches)
    tf_compat.set_attr(op, "_lower_using_switch_merge", tf_compat.AttrValue(b=True))
    for result, tensors in zip(op.outputs, outputs, strict=True):
        tf_compat.copy_handle_data(tensors[0], result)
    return op


def copy_conditional(copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
    """Copies a conditional whose branches are to be copied too."""
    branches = []
    for graph in branch_graphs(op):
        branch = copy.branch(graph, list(op.inputs)[1:], "branch")
        branch.run()
        branches.append(branch.target)
    with copy.target.as_default():
        new = add_conditional(
            copy.resolve(op.inputs[0]),
            branches,
            by_index="Case" in op.type,
            name=op.name,
        )
    copy.register(op, new)
    return list(new.outputs)


def copy_loop(
    copy: GraphCopy,
    op: tf.Operation,
    rewrite: Rewrite | None = None,
    *,
    inputs: Sequence[tf.Tensor] | None = None,
    counted: bool = False,
) -> list[tf.Tensor]:
    """Copies a While whose body is to be copied too.

    What the copies of the condition and the body capture in addition is handed
    through the loop unchanged.

    Args:
        copy: Of the graph around.
        op: The While.
        rewrite: What changes in the condition and the body; as in `copy` if None.
        inputs: Of the copy, maybe of other types; the copies of its inputs if None.
        counted: Whether the copies know which turn it is.
    """
    if inputs is None:
        inputs = [copy.resolve(variable) for variable in op.inputs]
    shapes = [
        old.shape if new.dtype == old.dtype else new.shape
        for old, new in zip(op.outputs, inputs, strict=True)
    ]
    parts = [begin_loop_part(copy, graph, inputs, rewrite) for graph in loop_graphs(op)]
    if counted:
        inputs = [*inputs, _count_turns(copy, parts)]
        shapes.append(tf.TensorShape([]))
    for part in parts:
        part.run()
    body = parts[-1].target
    turn = parts[-1].turn
    if turn is not None:
        with body.as_default():
            body.outputs.append(turn.number + tf.constant(1, _TURN.dtype))
    graphs = [part.target for part in parts]
    new = add_loop(copy, op, start=inputs, shapes=shapes, graphs=graphs)
    return list(new.outputs)[: len(op.outputs)]


def _count_turns(copy: GraphCopy, parts: Sequence[GraphCopy]) -> tf.Tensor:
    """Makes the parts of a loop take the number of the turn; returns the first."""
    for part in parts:
        part.turn = Turn(tf_compat.placeholder_like(part.target, _TURN))
        part.target.inputs.append(part.turn.number)
    with copy.target.as_default():
        return tf.constant(0, _TURN.dtype)


def add_loop(
    copy: GraphCopy,
    op: tf.Operation,
    *,
    start: Sequence[tf.Tensor],
    shapes: Sequence[tf.TensorShape],
    graphs: Sequence[FuncGraph],
) -> tf.Operation:
    """Adds a While in place of `op`.

    Args:
        copy: Of the graph around.
        op: The While that it is a copy of.
        start: What the variables are at first.
        shapes: What they are in the end.
        graphs: Of the condition and of the body: what they take and return are the
            variables; what they capture is handed through the loop unchanged.
    """
    condition, body = graphs
    extra = _append_captures((condition, body))
    body.outputs.extend(body.inputs[len(start) :])
    with copy.target.as_default():
        results = tf.raw_ops.While(
            input=[*start, *extra],
            cond=_name_of(condition),
            body=_name_of(body),
            output_shapes=[*shapes, *(tensor.shape for tensor in extra)],
            parallel_iterations=op.get_attr("parallel_iterations"),
            name=op.name,
        )
    new = _op_of(results)
    tf_compat.set_loop_graphs(new, condition, body)
    tf_compat.set_attr(new, "_lower_using_switch_merge", tf_compat.AttrValue(b=True))
    copy.register(op, new)
    return new


def loop_graphs(op: tf.Operation) -> list[FuncGraph]:
    """Returns the graphs of a While's condition and of its body."""
    return [
        tf_compat.to_func_graph(
            tf_compat.find_function(op.graph, op.get_attr(attr).name)
        )
        for attr in ("cond", "body")
    ]


def begin_loop_part(
    copy: GraphCopy,
    source: FuncGraph,
    inputs: Sequence[tf.Tensor],
    rewrite: Rewrite | None = None,
) -> GraphCopy:
    """Returns a copy, not run yet, of the condition or the body of a loop.

    Args:
        copy: Of the graph around.
        source: What the While names.
        inputs: Of the copy of the While, maybe of other types.
        rewrite: What changes in it; as in `copy` if None.
    """
    with copy.target.as_default():
        target = FuncGraph(tf_compat.unique_name("loop"))
    part = copy.part(source, target, rewrite, repeated=True)
    is_body = len(source.outputs) == len(source.inputs)
    for i, (placeholder, given) in enumerate(zip(source.inputs, inputs, strict=True)):
        has_type = given.dtype == placeholder.dtype
        value = tf_compat.placeholder_like(target, placeholder if has_type else given)
        if given.dtype == tf.resource:
            tf_compat.copy_static_info(given, value)
        target.inputs.append(value)
        part.bind(placeholder, value)
        if is_body and is_kept(source, i):
            part.kept[id(given)] = value
    return part


def is_kept(body: FuncGraph, index: int) -> bool:
    """Says whether a loop's body returns a variable as it got it."""
    return behind_identities(body.outputs[index]) is body.inputs[index]


def _match_inputs(graphs: Sequence[FuncGraph]) -> list[tf.Tensor]:
    """Gives graphs that only capture the same inputs in the same order.

    Returns:
        The captured tensors, which are the inputs of an op with these branches.
    """
    union: dict[int, tf.Tensor] = {}
    for graph in graphs:
        for external, _ in graph.captures:
            union.setdefault(id(external), external)
    externals = list(union.values())
    for graph in graphs:
        internals = {id(external): internal for external, internal in graph.captures}
        graph.inputs = [
            internals[id(external)]
            if id(external) in internals
            else tf_compat.placeholder_like(graph, external)
            for external in externals
        ]
        tf_compat.set_captures(graph, externals)
    return externals


def _append_captures(graphs: Sequence[FuncGraph]) -> list[tf.Tensor]:
    """Puts what any of `graphs` captures behind the other inputs of all of them."""
    own = [
        [i for i in graph.inputs if all(i is not c for _, c in graph.captures)]
        for graph in graphs
    ]
    externals = _match_inputs(graphs)
    for graph, inputs in zip(graphs, own, strict=True):
        graph.inputs = inputs + list(graph.inputs)
    return externals


def _has_effects(graph: FuncGraph) -> bool:
    return any(tf_compat.is_stateful(op) for op in graph.get_operations())


def _name_of(graph: FuncGraph) -> str:
    function = tf_compat.make_function(graph)
    tf_compat.add_function(tf_compat.default_graph(), function)
    return str(tf.compat.as_str(function.name))


def _join_shapes(tensors: Sequence[tf.Tensor]) -> tf.TensorShape:
    shape = tensors[0].shape
    for tensor in tensors[1:]:
        shape = shape.most_specific_compatible_shape(tensor.shape)
    return shape


def _op_of(results: object) -> tf.Operation:
    """Returns the op of what a generated function returned."""
    if isinstance(results, tf.Operation):
        return results
    return results[0].op  # type: ignore[index]
