"""The gradients of ops in regions: calls, conditionals, products with a capture."""

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python import tf_compat
from recursive_tf.python.gradient.gradient_graph import (
    GradientGraph,
    enclosing_gradient,
)
from recursive_tf.python.gradient.region import Region
from recursive_tf.python.program.dense import dense_or_zeros
from recursive_tf.python.program.functional_ops import add_conditional
from recursive_tf.python.program.trainable import is_trainable


def gradient_of_call(op: tf.Operation, *gradients: Any) -> list[Any]:
    """Adds a call of the callee's gradient procedure, at the same place."""
    return _gradient_of_invocations(op, gradients, library.recursive_call_gradient)


def gradient_of_map(op: tf.Operation, *gradients: Any) -> list[Any]:
    """The same for each row; arguments that all rows share get the sum."""
    shared = list(op.inputs)[len(op.inputs) - op.get_attr("num_shared") :]
    add = functools.partial(
        library.recursive_map_gradient,
        num_shared=sum(is_trainable(tensor.dtype) for tensor in shared),
    )
    return _gradient_of_invocations(op, gradients, add)


def _gradient_of_invocations(
    op: tf.Operation, gradients: tuple[Any, ...], add: Callable[..., Any]
) -> list[Any]:
    graph = enclosing_gradient(tf_compat.default_graph())
    assert graph is not None
    arguments = list(op.inputs)[1:]
    trainable = [a for a in arguments if is_trainable(a.dtype)]
    results = add(
        handle=tf_compat.capture_stepwise(graph.handle),
        activation=op.outputs[-1],
        output_gradients=_of_results(op, gradients),
        Tinput_gradients=[a.dtype for a in trainable],
        output_shapes=[a.shape for a in trainable],
        name="call_gradient",
    )
    found = iter([] if isinstance(results, tf.Operation) else list(results))
    return [None] + [next(found) if is_trainable(a.dtype) else None for a in arguments]


def gradient_of_shared_call(op: tf.Operation, *gradients: Any) -> list[Any]:
    """Adds up what comes from all that share an invocation; the root op runs it then.

    Nothing goes back to the arguments: none of them is differentiable.
    """
    graph = enclosing_gradient(tf_compat.default_graph())
    assert graph is not None
    library.recursive_shared_call_gradient(
        handle=tf_compat.capture_stepwise(graph.handle),
        activation=op.outputs[-1],
        output_gradients=_of_results(op, gradients),
        name="shared_gradient",
    )
    return [None] * len(op.inputs)


def _of_results(op: tf.Operation, gradients: tuple[Any, ...]) -> list[tf.Tensor]:
    """Returns the gradients of a call's floating-point results, without the handle."""
    outputs = list(op.outputs)[:-1]
    return [
        dense_or_zeros(dy, y)
        for y, dy in zip(outputs, gradients, strict=False)
        if is_trainable(y.dtype)
    ]


def gradient_of_conditional(op: tf.Operation, *gradients: Any) -> list[Any]:
    """Adds a conditional whose branches are the gradients of the branches.

    Each branch reads what the forward branch kept. TensorFlow's own gradient would
    hand all intermediate values of both branches out of the forward conditional.
    """
    graph = tf_compat.default_graph()
    assert isinstance(graph, GradientGraph)
    regions = graph.region.branches[op.name]
    inputs = list(op.inputs)[1:]
    branches = [GradientGraph(region, graph.sinks, graph) for region in regions]
    found = [
        branch.differentiate(_branch_outputs(branch.region, gradients))
        for branch in branches
    ]
    wanted = [
        i
        for i in range(len(inputs))
        if any(
            id(branch.region.graph.inputs[i]) in results
            for branch, results in zip(branches, found, strict=True)
        )
    ]
    finals = []
    for branch, results in zip(branches, found, strict=True):
        _set_outputs(branch, results, wanted, inputs)
        finals.append(branch.finish())
    _update_branches(op, regions)
    new = add_conditional(op.inputs[0], finals, by_index="Case" in op.type)
    results = dict(zip(wanted, new.outputs, strict=True))
    return [None] + [results.get(i) for i in range(len(inputs))]


def _branch_outputs(
    region: Region, gradients: tuple[Any, ...]
) -> list[tuple[tf.Tensor, tf.Tensor]]:
    pairs = zip(region.graph.outputs, gradients, strict=False)
    return [
        (y, dense_or_zeros(dy, y))
        for y, dy in pairs
        if dy is not None and y is not region.handle
    ]


def _set_outputs(
    branch: GradientGraph,
    results: dict[int, tf.Tensor],
    wanted: list[int],
    inputs: list[tf.Tensor],
) -> None:
    with branch.as_default():
        branch.outputs = []
        for i in wanted:
            gradient = results.get(id(branch.region.graph.inputs[i]))
            if gradient is None:
                gradient = tf.zeros_like(inputs[i])
            branch.outputs.append(branch.capture(gradient))


def _update_branches(op: tf.Operation, regions: list[Region]) -> None:
    """Makes the forward op run the branches as they are now: they keep values."""
    functions = [tf_compat.make_function(region.graph) for region in regions]
    if "Case" in op.type:
        tf_compat.set_functions(op, "branches", functions)
        return
    tf_compat.set_function(op, "then_branch", functions[0])
    tf_compat.set_function(op, "else_branch", functions[1])


def gradient_of_product(op: tf.Operation, gradient: Any) -> list[Any]:
    """Hands the factors of a weight's gradient to its sink.

    For c = a' b', where a' is a or its transpose: da' = dc transpose(b') and
    db' = transpose(a') dc.
    """
    graph = tf_compat.default_graph()
    assert isinstance(graph, GradientGraph)
    a, b = op.inputs
    ta, tb = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    dc = tf.convert_to_tensor(gradient)
    weight = graph.region.capture_of(b)
    if weight is not None:
        rows = _transpose(a) if ta else a
        factors = (dc, rows) if tb else (rows, dc)
        graph.sinks.add_product(graph.handle, weight, *factors)
        if ta:
            return [tf.matmul(b, dc, transpose_a=tb, transpose_b=True), None]
        return [tf.matmul(dc, b, transpose_b=not tb), None]
    weight = graph.region.capture_of(a)
    assert weight is not None
    rows, outer = b if tb else _transpose(b), _transpose(dc)
    factors = (rows, outer) if ta else (outer, rows)
    graph.sinks.add_product(graph.handle, weight, *factors)
    if tb:
        return [None, tf.matmul(dc, a, transpose_a=True, transpose_b=ta)]
    return [None, tf.matmul(a, dc, transpose_a=not ta)]


def gradient_of_python_function(op: tf.Operation, *gradients: Any) -> list[Any]:
    """Adds a Python function that calls the forward one once more, under a tape.

    TensorFlow keeps one tape for each op, and would lose those of all invocations but
    one.
    """
    function = tf_compat.python_function_of(op)
    inputs, outputs = list(op.inputs), list(op.outputs)
    wanted = [i for i, x in enumerate(inputs) if is_trainable(x.dtype)]
    given = [i for i, y in enumerate(outputs) if is_trainable(y.dtype)]

    def differentiate(*values: tf.Tensor) -> list[tf.Tensor]:
        xs, dys = values[: len(inputs)], values[len(inputs) :]
        sources = [xs[i] for i in wanted]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            found = tf.nest.flatten(function(*xs))
            ys = [tf.convert_to_tensor(found[i], outputs[i].dtype) for i in given]
        zero = tf.UnconnectedGradients.ZERO
        return list(tape.gradient(ys, sources, list(dys), unconnected_gradients=zero))

    dys = [dense_or_zeros(gradients[i], outputs[i]) for i in given]
    types = [inputs[i].dtype for i in wanted]
    found = dict(
        zip(wanted, tf.py_function(differentiate, inputs + dys, types), strict=True)
    )
    for i, gradient in found.items():
        gradient.set_shape(inputs[i].shape)
    return [found.get(i) for i in range(len(inputs))]


def _transpose(matrix: tf.Tensor) -> tf.Tensor:
    """Returns the transpose; that of a row or a column, the usual case, is no copy."""
    rows, columns = matrix.shape.as_list()
    if 1 in (rows, columns) and None not in (rows, columns):
        return tf.reshape(matrix, [columns, rows])
    return tf.transpose(matrix)
