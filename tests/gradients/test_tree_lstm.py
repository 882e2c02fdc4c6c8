"""A TreeLSTM has the oracle's values and gradients, on trees of every shape.

The oracle, `docs/from_scratch.py`, shares no code with TensorFlow.
"""

import random

import hypothesis
import numpy as np
import pytest
import tensorflow as tf

from tests.gradients.forests import (
    CHAIN_LENGTH,
    FOREST_SPEC,
    NUM_TREES,
    chain,
    forests,
    grow,
    plant,
    random_forest,
)
from tests.gradients.tree_lstms import (
    HIDDEN,
    Results,
    differentiate,
    iterative,
    random_cotangents,
    random_weights,
    recursive,
    run_on_variables,
    run_oracle,
)
from tests.helpers.close import assert_all_close
from tests.helpers.differences import central_differences

pytestmark = [pytest.mark.every_executor, pytest.mark.slow]

TABLE_SPEC = tf.TensorSpec([None, HIDDEN], tf.float64)
WEIGHT_SPECS = {
    name: tf.TensorSpec(array.shape, tf.float64)
    for name, array in random_weights(1).items()
} | {"node_values": TABLE_SPEC}


@pytest.fixture(scope="module")
def run_on_tensors(executor):
    """The recursive program, with weights that are tensors of the function's graph."""

    @tf.function(input_signature=[FOREST_SPEC, WEIGHT_SPECS, [TABLE_SPEC] * 3])
    def run(forest, weights, cotangents):
        return differentiate(recursive, forest, weights, cotangents)

    run.get_concrete_function()
    return run


def assert_equal(ours, theirs):
    """Element by element, for float64."""
    assert_all_close(ours, theirs, rtol=1e-8, atol=1e-10)


def assert_close(ours, theirs):
    """Relative to the largest element, for sums in which float32 terms cancel."""
    for a, b in zip(tf.nest.flatten(ours), tf.nest.flatten(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-4 * np.abs(b).max())


@pytest.fixture(scope="module")
def problem():
    forest = random_forest()
    return forest, random_weights(forest.num_nodes), random_cotangents(forest)


@pytest.fixture(scope="module")
def expected(problem):
    return run_oracle(*problem)


@pytest.fixture(scope="module")
def found(problem, executor):
    return run_on_variables(recursive, *problem)


@pytest.fixture(scope="module")
def found_in_float32(problem, executor):
    return run_on_variables(recursive, *problem, tf.float32)


@pytest.fixture(scope="module")
def small_problem():
    """Of a loop, each step of which copies what all nodes have."""
    forest = random_forest(num_trees=40, chain_length=100)
    return forest, random_weights(forest.num_nodes), random_cotangents(forest)


@pytest.fixture(scope="module")
def looped(small_problem):
    return run_on_variables(iterative, *small_problem)


@pytest.mark.traces_only
def test_the_trees_are_of_dozens_of_sizes_and_one_is_a_long_chain(problem):
    sizes = np.diff(problem[0].roots, prepend=-1)
    assert len(sizes) == NUM_TREES
    assert len(set(sizes)) >= 24
    assert sizes.min() == 1
    assert sizes.max() == 2 * CHAIN_LENGTH + 1


@pytest.mark.parametrize("part", Results._fields)
def test_a_recursive_program_computes_what_the_oracle_computes(found, expected, part):
    assert_equal(getattr(found, part), getattr(expected, part))


@pytest.mark.parametrize("part", Results._fields)
def test_a_recursive_program_computes_what_a_loop_computes(
    run_on_tensors, small_problem, looped, part
):
    found = run_on_tensors(*small_problem)
    assert_equal(getattr(found, part), getattr(looped, part))


@pytest.mark.parametrize("part", Results._fields)
def test_float32_is_as_exact_as_it_can_be(found_in_float32, expected, part):
    assert_close(getattr(found_in_float32, part), getattr(expected, part))


@hypothesis.settings(max_examples=50, deadline=None)
@hypothesis.given(forest=forests())
def test_any_forest_has_the_values_and_gradients_of_the_oracle(run_on_tensors, forest):
    problem = forest, random_weights(forest.num_nodes), random_cotangents(forest)
    assert_equal(run_on_tensors(*problem), run_oracle(*problem))


@pytest.mark.parametrize(
    "tree",
    [grow(1, None), chain(4), grow(7, random.Random(3).randrange)],
    ids=["one node", "a chain", "a random tree"],
)
def test_a_gradient_is_what_finite_differences_say(run_on_tensors, tree):
    forest = plant([tree])
    arrays, cotangents = random_weights(forest.num_nodes), random_cotangents(forest)

    def losses():
        values, *_ = run_on_tensors(forest, arrays, cotangents)
        products = [
            np.sum(v * g)
            for v, g in zip(map(np.array, values), cotangents, strict=True)
        ]
        return np.array([products[0], products[1] + products[2]])

    exact = run_on_tensors(forest, arrays, cotangents)
    for name, array in arrays.items():
        by_nodes, by_roots = central_differences(losses, array)
        np.testing.assert_allclose(exact.by_nodes[name], by_nodes, rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(exact.by_roots[name], by_roots, rtol=1e-5, atol=1e-8)
