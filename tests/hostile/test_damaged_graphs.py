"""Saved graphs in which ops or functions are not what they were end no process."""

import pytest
import tensorflow as tf

from tests.helpers import damaged
from tests.hostile.children import run_numbers

IN_ONE_PROCESS = 2000
ROOTS = ("RecursiveInvokeBatched", "RecursiveInvokeBatchedGradient")


@pytest.mark.slow
def test_no_damaged_graph_ends_the_process(times):
    run_numbers("tests.hostile.damaged_graphs", times(120), IN_ONE_PROCESS)


@pytest.mark.parametrize("change", [-1, 1, 2**40])
@pytest.mark.parametrize("op_type", ROOTS)
def test_a_plan_of_another_version_says_which_one_is_read(op_type, change):
    graph_def, results = damaged.saved(damaged.tree, "batched", learns=True)
    functions = graph_def.library.function
    nodes = [*graph_def.node, *(n for f in functions for n in f.node_def)]
    (node,) = [n for n in nodes if n.op == op_type]
    encoded = "plan" if op_type == ROOTS[0] else "gradient_plan"
    version = node.attr[encoded].list.i[0]
    node.attr[encoded].list.i[0] += change
    words = f"has version {version + change}, but .* reads version {version}"
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        damaged.run(graph_def, results)


def drop(graph_def, op_type):
    """Takes the functions away that ops of a type name."""
    nodes = [
        *graph_def.node,
        *(n for f in graph_def.library.function for n in f.node_def),
    ]
    names = {
        function.name
        for node in nodes
        if node.op == op_type
        for value in node.attr.values()
        for function in value.list.func
    }
    assert names
    for function in [
        f for f in graph_def.library.function if f.signature.name in names
    ]:
        graph_def.library.function.remove(function)


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
def test_functions_that_are_missing_are_an_error(executor):
    graph_def, results = damaged.saved(damaged.tree, executor, learns=True)
    drop(graph_def, "RecursiveInvoke" + ("Batched" if executor == "batched" else ""))
    with pytest.raises(
        (tf.errors.OpError, ValueError), match=r"(?i)not found|no such|unknown|is not"
    ):
        damaged.run(graph_def, results)
