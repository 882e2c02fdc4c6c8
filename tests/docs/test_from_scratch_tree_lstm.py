"""The oracle's TreeLSTM: values, gradients, pushes, and what its cache holds."""

import numpy as np
import pytest

from tests.helpers import equations
from tests.helpers.differences import central_differences
from tests.helpers.from_scratch import fs

TREE = {  # ((0 1) 2)
    "left": np.array([-1, -1, -1, 0, 3]),
    "right": np.array([-1, -1, -1, 1, 2]),
    "tokens": np.array([4, 0, 4, 0, 0]),
}


def random_tree(rng, num_leaves):
    """Joins random neighbors until one is left; it is the last node."""
    left, right = [-1] * num_leaves, [-1] * num_leaves
    roots = list(range(num_leaves))
    while len(roots) > 1:
        k = rng.integers(len(roots) - 1)
        left.append(roots[k])
        right.append(roots[k + 1])
        roots[k : k + 2] = [len(left) - 1]
    return {
        "left": np.array(left),
        "right": np.array(right),
        "tokens": rng.integers(5, size=len(left)),
    }


def random_weights(rng, embedding=3, hidden=2):
    shapes = {
        "embedding": (5, embedding),
        "leaf": (embedding, 3 * hidden),
        "leaf_bias": (3 * hidden,),
        "internal": (2 * hidden, 5 * hidden),
        "internal_bias": (5 * hidden,),
    }
    return {name: fs.Capture(rng.normal(size=shape)) for name, shape in shapes.items()}


# What the weights are called in the layer that the equations are written for.
KERAS_NAMES = {
    "leaf_kernel": "leaf",
    "leaf_bias": "leaf_bias",
    "recurrent_kernel": "internal",
    "recurrent_bias": "internal_bias",
}


def direct_tree_lstm(tree, weights, node, states):
    """A Python function that calls itself; fills `states` with the h of each node."""
    arrays = {name: weights[ours].value for name, ours in KERAS_NAMES.items()}
    cell = equations.TreeLSTM(arrays)

    def visit(node):
        children = [tree[side][node] for side in ("left", "right")]
        x = weights["embedding"].value[tree["tokens"][node]]
        state = cell(x, [visit(child) for child in children if child >= 0])
        states[node] = state[0]
        return state

    return visit(node)


def assert_gradients_match(loss, gradients, captures):
    for capture in captures:
        expected = central_differences(loss, capture.value)
        np.testing.assert_allclose(
            gradients[capture], expected, rtol=1e-6, atol=1e-6 * abs(expected).max()
        )


# --- Values, gradients, pushes


@pytest.mark.parametrize("num_leaves", [1, 2, 5, 9])
def test_tree_lstm_is_equal_to_the_direct_recursion(num_leaves):
    rng = np.random.default_rng(num_leaves)
    tree, weights = random_tree(rng, num_leaves), random_weights(rng)
    root = 2 * num_leaves - 2
    (h, c), tape = fs.tree_lstm(tree, weights).run(root)
    states = {}
    expected = direct_tree_lstm(tree, weights, root, states)
    np.testing.assert_allclose([h, c], expected, rtol=1e-12)
    for node, state in states.items():
        np.testing.assert_allclose(tape.pushed["h"][node], state, rtol=1e-12)


@pytest.mark.parametrize("num_leaves", [1, 2, 5])
def test_tree_lstm_gradients_are_equal_to_central_differences(num_leaves):
    rng = np.random.default_rng(num_leaves)
    tree, weights = random_tree(rng, num_leaves), random_weights(rng)
    root, cell = 2 * num_leaves - 2, fs.tree_lstm(tree, weights)
    dh, dc = rng.normal(size=(2, 2))

    def loss():
        (h, c), _ = cell.run(root)
        return h @ dh + c @ dc

    _, tape = cell.run(root)
    assert_gradients_match(loss, tape.gradient(dh, dc), weights.values())


def test_gradients_of_pushed_values_flow_back_row_by_row():
    rng = np.random.default_rng(0)
    tree, weights = random_tree(rng, 4), random_weights(rng)
    cell, cotangent = fs.tree_lstm(tree, weights), rng.normal(size=(7, 2))

    def loss():
        return (cell.run(6)[1].pushed["h"] * cotangent).sum()

    _, tape = cell.run(6)
    gradients = tape.gradient(pushed={"h": cotangent})
    assert_gradients_match(loss, gradients, weights.values())


def test_rows_that_no_invocation_pushed_are_zeros():
    weights = random_weights(np.random.default_rng(0))
    _, tape = fs.tree_lstm(TREE, weights).run(3)
    np.testing.assert_array_equal(tape.pushed["h"][[2, 4]], np.zeros((2, 2)))


def test_a_row_that_is_pushed_twice_is_refused():
    weights = random_weights(np.random.default_rng(0))
    with pytest.raises(IndexError, match="Row 0 of 'h' is taken"):
        fs.tree_lstm(TREE, weights).run([0, 0], mapped=True)


def test_a_mapped_root_is_one_run_over_several_trees():
    rng = np.random.default_rng(1)
    weights = random_weights(rng)
    cell, dh = fs.tree_lstm(TREE, weights), rng.normal(size=(2, 2))

    def loss():
        (h, _), tape = cell.run([3, 2], mapped=True)
        return (h * dh).sum() + tape.pushed["h"].sum()

    (h, _), tape = cell.run([3, 2], mapped=True)
    np.testing.assert_allclose(h[0], cell.run(3)[0][0])
    np.testing.assert_allclose(h[1], cell.run(2)[0][0])
    gradients = tape.gradient(dh, None, pushed={"h": 1.0})
    assert_gradients_match(loss, gradients, weights.values())


# --- The cache


def test_the_cache_has_one_entry_for_each_path():
    weights = random_weights(np.random.default_rng(0))
    _, tape = fs.tree_lstm(TREE, weights).run(4)
    assert set(tape.cache) == {(), (0,), (1,), (0, 0), (0, 1)}


def test_rows_of_a_mapped_root_are_told_apart_by_an_ordinal():
    weights = random_weights(np.random.default_rng(0))
    _, tape = fs.tree_lstm(TREE, weights).run([3, 2], mapped=True)
    assert set(tape.cache) == {(0,), (0, 0), (0, 1), (1,)}


def test_a_gradient_leaves_the_cache_as_it_is_and_can_run_again():
    weights = random_weights(np.random.default_rng(0))
    _, tape = fs.tree_lstm(TREE, weights).run(4)
    before = {path: dict(values) for path, values in tape.cache.items()}
    first = tape.gradient(1.0, 1.0)[weights["internal"]]
    second = tape.gradient(1.0, 1.0)[weights["internal"]]
    np.testing.assert_array_equal(first, second)
    assert tape.cache == before


def test_a_capture_in_the_branch_not_taken_has_zeros():
    weights = random_weights(np.random.default_rng(0))
    _, tape = fs.tree_lstm(TREE, weights).run(0)
    gradient = tape.gradient(1.0, 1.0)[weights["internal"]]
    np.testing.assert_array_equal(gradient, np.zeros((4, 10)))
