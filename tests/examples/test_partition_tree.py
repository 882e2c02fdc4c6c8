"""examples/partition_tree.py: the table is the search tree of the numbers."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf


def tree_by_insertion(numbers):
    """Returns the children of a search tree that numbers were put into in turn."""
    children = {"left": [-1] * len(numbers), "right": [-1] * len(numbers)}
    for new in range(1, len(numbers)):
        after = 0
        while after != -1:
            node = after
            side = "left" if numbers[new] < numbers[node] else "right"
            after = children[side][node]
        children[side][node] = new
    return children


@pytest.mark.parametrize("size", [1, 2, 9, 60])
def test_it_is_the_search_tree_of_the_numbers(example, size):
    numbers = np.random.default_rng(size).permutation(size)
    found = example.partition_tree(tf.constant(numbers))
    expected = tree_by_insertion(numbers)
    assert {side: rows.numpy().tolist() for side, rows in found.items()} == expected


def test_it_runs_where_the_table_says(example, executor_in_table):
    split = example.define(tf.constant([2, 3, 1]))
    assert rtf.explain(split.subgraph_for(tf.range(3))).executor == executor_in_table
