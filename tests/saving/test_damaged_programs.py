"""A program comes from a file: what is damaged in it is refused, or does no harm."""

import pathlib
import subprocess
import sys

import pytest
import tensorflow as tf

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


def damaged_graph(op, attribute, change):
    """Returns a saved tree that pushes and learns, where one list is changed."""
    graph_def, results = damaged.saved(damaged.tree, "batched", learns=True)
    nodes = [
        *graph_def.node,
        *(n for f in graph_def.library.function for n in f.node_def),
    ]
    for node in nodes:
        if node.op == op:
            items = node.attr[attribute].list
            kind = next(k for k in ("i", "s", "shape", "func") if getattr(items, k))
            change(getattr(items, kind))
    return graph_def, results


def drop_one(items):
    del items[0]


def name_what_is_not_there(items):
    items[0] = 2**30


@pytest.mark.parametrize(
    ("op", "attribute", "change"),
    [
        ("RecursiveInvokeBatchedGradient", "results", name_what_is_not_there),
        ("RecursiveInvokeBatchedGradient", "tables", name_what_is_not_there),
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
