"""examples/merge_sort.py: it sorts as NumPy does."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf


@pytest.mark.parametrize("size", [0, 1, 2, 7, 64])
def test_it_is_that_of_numpy(example, size):
    numbers = np.random.default_rng(size).integers(-9, 9, size).astype("f")
    np.testing.assert_array_equal(example.merge_sort(numbers), np.sort(numbers))


def test_it_runs_where_the_table_says(example, executor_in_table):
    subgraph = example.merge_sort.subgraph_for(tf.TensorSpec([None]))
    assert rtf.explain(subgraph).executor == executor_in_table
