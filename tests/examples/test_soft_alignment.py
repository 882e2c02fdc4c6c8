"""examples/soft_alignment.py: the value is that of two loops; its gradient, too."""

import numpy as np
import pytest
import tensorflow as tf


def alignment_cost(costs, temperature):
    """Returns the same by two loops."""
    rows, columns = costs.shape
    least = np.full([rows + 1, columns + 1], np.inf)
    least[0, 0] = 0
    for i in range(rows):
        for j in range(columns):
            before = np.array([least[i, j], least[i, j + 1], least[i + 1, j]])
            lowest = before.min()
            soft = np.exp((lowest - before) / temperature).sum()
            least[i + 1, j + 1] = costs[i, j] + lowest - temperature * np.log(soft)
    return least[-1, -1]


@pytest.fixture(params=[(1, 1), (1, 4), (5, 1), (6, 9), (20, 20)])
def costs(request):
    random = np.random.default_rng(0)
    return random.uniform(size=request.param)


def test_it_is_that_of_two_loops(example, costs):
    found = example.alignment_cost(tf.constant(costs, tf.float32), 0.1)
    np.testing.assert_allclose(found, alignment_cost(costs, 0.1), rtol=1e-4)


def test_its_gradient_is_that_of_finite_differences(example, costs):
    x = tf.constant(costs, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = example.alignment_cost(x, 0.1)
    gradient = tape.gradient(y, x)
    for at in [(0, 0), tuple(np.array(costs.shape) // 2)]:
        step = np.zeros_like(costs)
        step[at] = 1e-5
        above, below = (alignment_cost(costs + s, 0.1) for s in (step, -step))
        np.testing.assert_allclose(gradient[at], (above - below) / 2e-5, atol=1e-3)


def test_every_row_is_aligned(example):
    costs = tf.random.stateless_uniform([6, 9], [0, 1])
    with tf.GradientTape() as tape:
        tape.watch(costs)
        y = example.alignment_cost(costs)
    assert np.all(tf.reduce_sum(tape.gradient(y, costs), 1).numpy() > 0.99)
