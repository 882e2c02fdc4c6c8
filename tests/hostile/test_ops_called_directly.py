"""An op that is called with anything says what is wrong, and ends no process."""

import pytest
import tensorflow as tf

from recursive_tf.ops import library
from tests.helpers import damaged
from tests.hostile import op_calls
from tests.hostile.children import run_numbers

IN_ONE_PROCESS = 2000


@pytest.mark.slow
def test_no_call_of_an_op_ends_the_process(times):
    run_numbers("tests.hostile.op_calls", times(250), IN_ONE_PROCESS)


def test_all_ops_of_the_library_are_called():
    kernels = {op_def.name for op_def in op_calls.op_defs()}
    assert {"RecursiveInvoke", "RecursiveCheckedRoots", "RecursiveItems"} <= kernels
    assert len(kernels) > 50


def test_what_is_to_be_a_scalar_is_one():
    two = tf.constant([True, False])
    for call in (
        lambda: library.recursive_watch("program", two),
        lambda: library.recursive_watch(["a", "b"], True),
        lambda: library.recursive_report("program", two),
        lambda: library.recursive_trace(two),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not a scalar"):
            call()


def test_a_check_of_rows_takes_a_row_alone():
    ids = {"size": 3, "drops_negative": False, "what": "ids"}
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        library.recursive_checked_ids(tf.constant(7), **ids)
    numerics = {"message": "it", "tells_sign": False, "has_rows": True}
    with pytest.raises(tf.errors.InvalidArgumentError, match="NaN"):
        library.recursive_check_numerics_rows(tf.constant(float("nan")), **numerics)


def programs_of(op_type):
    """Returns a saved program, and its ops of a type, with their functions."""
    graph_def, results = damaged.saved(damaged.tree, "dataflow", learns=True)
    functions = graph_def.library.function
    ops = [(f, n) for f in functions for n in f.node_def if n.op.endswith(op_type)]
    assert ops
    return graph_def, results, ops


@pytest.mark.parametrize("op_type", ["RecursiveCall", "RecursivePush", "RecursiveKeep"])
def test_a_handle_of_zeros_names_no_invocation(op_type):
    graph_def, results, ops = programs_of(op_type)
    for function, node in ops:
        zeros = function.node_def.add(op="ZerosLike", name=f"zeros_of_{node.name}")
        zeros.input.append(node.input[0])
        zeros.attr["T"].type = tf.variant.as_datatype_enum
        node.input[0] = f"{zeros.name}:y:0"
    with pytest.raises(tf.errors.InvalidArgumentError, match="activation handle"):
        damaged.run(graph_def, results)
