"""What a memory layout would bring is found of recorded runs; no run has one."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.ops import library
from recursive_tf.python.learning.layouts import ReadBytes, plan_layout
from tests.policies.programs import define_kinds

# Three chains: 7 -> 5 -> 2, 6 -> 3 -> 0, and 4 -> 1, which ends before the others.
LEFT = [-1, -1, -1, 0, 1, 2, 3, 5]
RIGHT = [-1] * 8
KINDS = [0] * 8
ROOTS = [7, 6, 4]
ROW = 3 * 8


def plan(*batch, **options):
    """Returns the layout of a run of one kind of node, and how much it copied."""
    program = define_kinds(1, **options)
    program.run(*batch)
    explanation = rtf.explain(program.subgraph)
    layout = plan_layout(lambda: program.run(*batch))
    return layout, explanation.bytes_moved


def test_what_block_programs_read_is_apart():
    layout, _ = plan(LEFT, RIGHT, KINDS, ROOTS, blocks="compiled")
    # Whole numbers alone are what no program computes with.
    assert layout.of_functions.all < 3 * ROW
    assert layout.of_programs.all >= 5 * ROW


def test_functions_copy_what_is_not_in_order():
    layout, copied = plan(LEFT, RIGHT, KINDS, ROOTS, blocks="tensorflow")
    read = layout.of_functions
    assert layout.of_programs == ReadBytes(0, 0, 0)
    # Beside it, what no launch computed, and results.
    assert 0 < read.all - read.in_order <= copied


def test_chains_are_read_in_order_of_the_plan():
    layout, _ = plan(LEFT, RIGHT, KINDS, ROOTS, blocks="tensorflow")
    assert layout.of_functions.in_order_planned == layout.of_functions.all
    assert layout.seconds > 0


def test_each_run_is_planned_by_itself():
    program = define_kinds(1)
    batch = (LEFT, RIGHT, KINDS, ROOTS)

    def both():
        program.run(*batch)
        program.run(*batch)

    one = plan_layout(lambda: program.run(*batch))
    assert plan_layout(both).of_programs.all == 2 * one.of_programs.all


def test_without_runs_nothing_is_read():
    layout = plan_layout(lambda: None)
    assert layout.of_functions == layout.of_programs == ReadBytes(0, 0, 0)


def planned(num_launches=(2,), launches=None, reads=None, rows=None):
    """Plans launches as an op takes them: one of 2 rows, and one that reads them."""
    return library.recursive_plan_layout(
        num_launches=tf.constant(num_launches, tf.int64),
        launches=launches or [[0, 0, 2, 0], [1, 1, 2, 1]],
        reads=tf.constant(reads or [[8, 2, 0]], tf.int64),
        read_rows=rows or [[0, 1, 0], [1, 0, 0]],
    )


def test_launches_are_planned():
    np.testing.assert_array_equal(planned(), [[[0, 0, 0], [16, 0, 16]]])


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        ({"num_launches": (3,)}, "num_launches"),
        ({"num_launches": (1,)}, "num_launches"),
        ({"num_launches": (-1, 3)}, "num_launches"),
        ({"launches": [[0, 0, -2, 0], [1, 1, 2, 1]]}, "launches"),
        ({"launches": [[0, 0, 2**31 - 1, 0], [1, 1, 2, 1]]}, "launches"),
        ({"launches": [[0, 0, 2, 0], [1, 1, 2, 2]]}, "launches"),
        ({"launches": [[0, 0, 2, 0], [1, 1, 2, 0]]}, "launches"),
        ({"reads": [[-8, 2, 0]]}, "reads"),
        ({"reads": [[2**31, 2, 0]]}, "reads"),
        ({"reads": [[8, 0, 0]]}, "reads"),
        ({"reads": [[8, 3, 0]]}, "reads"),
        ({"reads": [[8, 1, 0]]}, "reads"),
        ({"rows": [[0, 2, 0], [1, 0, 0]]}, "read_rows"),
        ({"rows": [[0, 1, 0], [2, 0, 0]]}, "read_rows"),
        ({"rows": [[0, 1, 0], [1, -2, 0]]}, "read_rows"),
    ],
)
def test_what_is_no_recording_is_refused(damage, what):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"'{what}' does not fit"):
        planned(**damage)


def test_a_matrix_has_its_columns():
    with pytest.raises(tf.errors.InvalidArgumentError, match="not of 4 columns"):
        planned(launches=[[0, 0, 2]])
