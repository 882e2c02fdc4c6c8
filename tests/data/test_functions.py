"""Forests go into functions and SubGraphs, and a function is traced once for all."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.data.examples import assert_same, forest, integers

pytestmark = pytest.mark.every_executor


def sums(trees):
    """Returns the sum of the tokens below each node, and of each tree."""
    with rtf.SubGraph("sum") as total:
        node = total.input(tf.int32)

        def internal():
            left, right = tf.gather(trees.left, node), tf.gather(trees.right, node)
            return total(left) + total(right)

        value = tf.cond(
            tf.gather(trees.left, node) < 0,
            lambda: tf.gather(trees.tokens, node),
            internal,
        )
        total.push("sum", value, index=node, size=trees.num_nodes)
        total.output(value)
    return total.map(trees.roots, with_pushed=True)


def child_sums(trees):
    """Returns the sum of each tree, whose nodes have any number of children."""
    spec = tf.TensorSpec([], tf.int32)
    with rtf.SubGraph("sum", output_signature=spec) as total:
        node = total.input(tf.int32)
        below = total.map(tf.gather(trees.children, node))
        total.output(tf.gather(trees.tokens, node) + tf.reduce_sum(below))
    return total.map(trees.roots)


# Leaves are 1, 2, 3, ... through all trees.
EXPECTED = [1 + 2 + 3, 4, 5 + 6 + 7 + 8 + 9, 10 + 11, 12 + 13 + 14 + 15 + 16]


def test_a_subgraph_runs_all_trees():
    totals, pushed = tf.function(sums)(integers())
    np.testing.assert_array_equal(totals, EXPECTED)
    np.testing.assert_array_equal(tf.gather(pushed["sum"], integers().roots), EXPECTED)


def test_a_subgraph_maps_over_lists_of_children():
    totals = tf.function(child_sums)(integers(binary=False))
    np.testing.assert_array_equal(totals, EXPECTED)


def test_one_tree_has_one_root():
    tree = integers()[2]
    totals, _ = sums(tree.replace(roots=[tree.roots], sizes=[tree.sizes]))
    np.testing.assert_array_equal(totals, EXPECTED[2:3])


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.traces_only
def test_batches_of_one_dataset_do_not_trace_again(binary):
    traces = []

    @tf.function
    def count(trees):
        traces.append(trees)
        return trees.num_nodes

    trees = integers(binary)
    dataset = tf.data.Dataset.from_tensor_slices(trees).batch(2)
    assert [int(count(batch)) for batch in dataset] == [6, 12, 9]
    assert [int(count(batch)) for batch in (trees, trees[1:2], trees[:0])] == [27, 1, 0]
    assert len(traces) == 1


@pytest.mark.traces_only
def test_a_function_returns_forests():
    @tf.function
    def reverse(trees):
        return trees[::-1], trees.replace(labels=trees.labels + 1)

    reverse_trees, more = reverse(forest())
    assert_same(reverse_trees, forest()[::-1])
    np.testing.assert_array_equal(more.labels, forest().labels + 1)


@pytest.mark.traces_only
def test_conditionals_and_loops_carry_forests():
    @tf.function
    def halve(trees):
        while trees.num_trees > 1:
            trees = tf.cond(trees.num_trees > 3, lambda: trees[1:], lambda: trees[:1])  # noqa: B023
        return trees

    assert_same(halve(forest()), forest()[2:3])


@pytest.mark.traces_only
def test_gradients_reach_features():
    trees = forest()
    weights = tf.Variable(trees.features["vector"])
    with tf.GradientTape() as tape:
        chosen = trees.replace(features={"vector": weights})[[2, 2]]
        loss = tf.reduce_sum(chosen.features["vector"])
    gradient = tf.convert_to_tensor(tape.gradient(loss, weights))
    expected = np.zeros([27, 2])
    expected[6:15] = 2
    np.testing.assert_array_equal(gradient, expected)
