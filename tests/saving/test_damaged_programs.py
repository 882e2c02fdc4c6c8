"""A program comes from a file: what is damaged in it is refused, or does no harm."""

import pathlib
import signal
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.batching.encode.encoding import encode
from recursive_tf.python.batching.plan.plan import (
    Branch,
    CallSite,
    Plan,
    Procedure,
    Source,
    Stage,
)
from tests.helpers import damaged

SCRIPT = pathlib.Path(__file__).parents[1] / "helpers" / "damaged.py"
# For each 300 of them, on a machine that does other things too.
SECONDS = 600
IN_ONE_PROCESS = 1000


@pytest.mark.slow
def test_a_damaged_program_ends_no_process(pytestconfig):
    count = pytestconfig.getoption("--damaged")
    for first in range(0, count, IN_ONE_PROCESS):
        some = min(IN_ONE_PROCESS, count - first)
        done = subprocess.run(
            [sys.executable, str(SCRIPT), str(first), str(some)],
            cwd=SCRIPT.parents[2],
            capture_output=True,
            text=True,
            timeout=SECONDS * (1 + some // 300),
            check=False,
        )
        last = "\n".join(done.stdout.splitlines()[-1:])
        assert done.returncode == 0, f"{last}\n{done.stderr[-3000:]}"


def damaged_graph(op, attribute, change, program=damaged.tree):
    """Returns a saved program that learns, where one list is changed.

    It is a tree that pushes, or another one of `damaged.PROGRAMS`.
    """
    graph_def, results = damaged.saved(program, "batched", learns=True)
    for node in nodes_of(graph_def):
        if node.op == op:
            items = node.attr[attribute].list
            kind = next(k for k in ("i", "s", "shape", "func") if getattr(items, k))
            change(getattr(items, kind))
    return graph_def, results


def nodes_of(graph_def):
    """Returns all ops of a graph, those of its functions too."""
    return [
        *graph_def.node,
        *(n for f in graph_def.library.function for n in f.node_def),
    ]


def drop_one(items):
    del items[0]


def name_what_is_not_there(items):
    items[0] = 2**30


def name_what_is_negative(items):
    items[0] = -1


@pytest.mark.parametrize(
    ("op", "attribute", "change"),
    [
        ("RecursiveInvokeBatchedGradient", "results", name_what_is_not_there),
        ("RecursiveInvokeBatchedGradient", "tables", name_what_is_not_there),
        (
            "RecursiveInvokeBatchedGradient",
            "backward_invariants",
            name_what_is_not_there,
        ),
        (
            "RecursiveInvokeBatchedGradient",
            "backward_invariants",
            name_what_is_negative,
        ),
        ("RecursiveInvokeBatched", "push_names", drop_one),
        ("RecursiveInvokeBatched", "pushed_shapes", drop_one),
        ("RecursiveInvokeBatched", "output_shapes", drop_one),
        ("RecursiveInvokeBatched", "prologue_captures", name_what_is_not_there),
        ("RecursiveInvokeBatched", "blocks_invariants", name_what_is_not_there),
        ("RecursiveInvokeBatched", "blocks", lambda f: f[0].CopyFrom(f[1])),
    ],
)
def test_what_a_root_op_says_of_its_program_is_checked_before_it_runs(
    op, attribute, change
):
    graph_def, results = damaged_graph(op, attribute, change)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"damaged|Save the"):
        damaged.run(graph_def, results)


@pytest.mark.parametrize(
    ("attribute", "change"),
    [
        ("late", drop_one),
        ("late", lambda f: f[0].CopyFrom(f[1])),
        ("late_invariants", name_what_is_not_there),
        ("late_outputs", drop_one),
        ("late_outputs", name_what_is_not_there),
        ("late_taker_counts", name_what_is_not_there),
        ("late_takers", name_what_is_not_there),
    ],
)
def test_late_parts_are_checked_before_they_run(attribute, change):
    op = "RecursiveInvokeBatched"
    graph_def, results = damaged_graph(op, attribute, change, damaged.late)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"damaged|do(es)? not fit"
    ):
        damaged.run(graph_def, results)


def test_a_shape_in_a_file_takes_no_memory():
    def enlarge(shapes):
        for shape in shapes:
            shape.CopyFrom(tf.TensorShape([2**20, 2**20]).as_proto())

    # In this program some late parts are not there, nor is their gradient.
    expected = damaged.run(*damaged.saved(damaged.late, "batched", learns=True))
    op = "RecursiveInvokeBatchedGradient"
    found = damaged.run(*damaged_graph(op, "deferred_shapes", enlarge, damaged.late))
    for ours, right in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, right)


def loop_that_launches_nothing():
    """Returns a plan: of n it gives n, when it is 0; it waits for that in a loop."""
    n, last = Source(0), Source(1)

    def procedure(name, *calls, num_slots=2, returns=(last,), **choices):
        stages = (Stage(-1, (), 0, 0, (), calls),) if calls else ()
        is_branch = name != "f"
        return Procedure(name, is_branch, 1, num_slots, stages, returns, **choices)

    end, turn = Branch(2, (n,)), Branch(3, (n,))
    procedures = (
        procedure("f", CallSite(0, None, (Branch(1, (n,)),), 1)),
        procedure("loop", CallSite(0, n, (end, turn), 1)),
        procedure("end", num_slots=1, returns=(n,)),
        procedure("turn", num_slots=1, returns=(), goes_on=Branch(1, (n,))),
    )
    return Plan(procedures, (), num_blocks=0)


@pytest.mark.parametrize("n", [0, 1])
def test_a_loop_that_launches_nothing_ends_with_its_step(n):
    def same(executor, _):
        with rtf.SubGraph("same", executor=executor) as f:
            f.output(f.input(tf.int32))
        return f, [tf.constant([n])], False

    graph_def, results = damaged.saved(same, "batched", learns=False)
    for node in nodes_of(graph_def):
        if node.op == "RecursiveInvokeBatched":
            node.attr["plan"].list.i[:] = encode(loop_that_launches_nothing())
    signal.alarm(damaged.SECONDS + damaged.SECONDS_TO_CANCEL)
    try:
        if n == 0:
            assert damaged.run(graph_def, results)[0].tolist() == [0]
        else:
            with pytest.raises(tf.errors.DeadlineExceededError):
                damaged.run(graph_def, results)
    finally:
        signal.alarm(0)


# What the programs leave empty, and a change would not reach.
EMPTY = {"deferred_invariants", "sliced", "Tindices", "Tdense_shapes"}
OWN = ("RecursiveInvoke", "StatelessRecursiveInvoke", "RecursiveTie")


def test_each_attribute_of_a_root_op_says_something_in_some_program():
    says = {}
    for program in damaged.PROGRAMS:
        for executor in ("batched", "dataflow"):
            graph_def, _ = damaged.saved(program, executor, learns=True)
            for node in nodes_of(graph_def):
                for name, value in node.attr.items():
                    if node.op.startswith(OWN) and name[0] != "_":
                        is_list = value.WhichOneof("value") == "list"
                        something = not is_list or bool(value.list.ListFields())
                        says[node.op, name] = says.get((node.op, name)) or something
    assert {name for (_, name), something in says.items() if not something} == EMPTY
