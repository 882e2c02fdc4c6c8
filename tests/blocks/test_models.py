"""Block programs compute what TensorFlow's kernels do, and the dataflow executor."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.blocks.compared import (
    CELLS,
    COMPILED,
    DATAFLOW,
    TENSORFLOW,
    assert_equal,
    encoder_of,
    forest_of,
    values_and_gradients,
)


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_cell_is_the_same_however_it_runs(name, dtype):
    forest = forest_of(name, 6)
    found = values_and_gradients(encoder_of(name, 20, COMPILED, dtype), forest)
    exact = {} if dtype == "float32" else {"rtol": 1e-12, "gradient_rtol": 1e-11}
    for choice in (TENSORFLOW, DATAFLOW):
        expected = values_and_gradients(encoder_of(name, 20, choice, dtype), forest)
        assert_equal(found, expected, **exact)


@pytest.mark.parametrize("name", ["TreeLSTM", "GRU", "normalized"])
def test_a_cell_and_its_gradient_are_compiled(name):
    encoder = encoder_of(name, 8, COMPILED)
    forest = forest_of(name, 3)
    assert_inner_nodes_are_compiled(lambda: gradients_of(encoder, forest))


def assert_inner_nodes_are_compiled(run):
    step = tf.function(run)
    step()
    explanation = rtf.explain(step)
    step()
    inner = [block for block in explanation.launches if "/false" in block]
    assert inner
    assert not set(inner) & set(explanation.not_compiled)


def gradients_of(encoder, forest):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(encoder(forest, training=True))
    return tape.gradient(loss, [v.value for v in encoder.trainable_variables])


@pytest.mark.parametrize("num_trees", [1, 2, 3, 17, 100, 300])
def test_a_batch_may_be_of_any_size(num_trees):
    forest = forest_of("TreeLSTM", num_trees, seed=num_trees)
    compiled = values_and_gradients(encoder_of("TreeLSTM", 24, COMPILED), forest)
    other = values_and_gradients(encoder_of("TreeLSTM", 24, TENSORFLOW), forest)
    assert_equal(compiled, other)


@pytest.mark.parametrize("units", [1, 2, 7, 33, 150])
def test_a_state_may_be_of_any_width(units):
    forest = forest_of("TreeLSTM", 10)
    compiled = values_and_gradients(encoder_of("TreeLSTM", units, COMPILED), forest)
    other = values_and_gradients(encoder_of("TreeLSTM", units, TENSORFLOW), forest)
    assert_equal(compiled, other)


def test_an_encoder_takes_batches_of_other_sizes_in_turn():
    compiled = encoder_of("TreeLSTM", 16, COMPILED)
    other = encoder_of("TreeLSTM", 16, TENSORFLOW)
    for num_trees in (5, 60, 1, 5):
        forest = forest_of("TreeLSTM", num_trees, seed=num_trees)
        assert_equal(
            values_and_gradients(compiled, forest), values_and_gradients(other, forest)
        )


def trained(choice, num_steps=8):
    """Returns variables and accumulators after some steps, and what they were."""
    encoder = encoder_of("TreeLSTM", 16, choice)
    optimizer = keras.optimizers.Adagrad(0.1)
    optimizer.build(encoder.trainable_variables)
    before = [v.numpy() for v in optimizer.variables + encoder.trainable_variables]
    for step in range(num_steps):
        forest = forest_of("TreeLSTM", 8, seed=step)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.sin(3.0 * encoder(forest, training=True)))
        weights = [v.value for v in encoder.trainable_variables]
        gradients = tape.gradient(loss, weights)
        optimizer.apply_gradients(
            zip(gradients, encoder.trainable_variables, strict=True)
        )
    after = [v.numpy() for v in optimizer.variables + encoder.trainable_variables]
    return before, after


def test_steps_of_adagrad_lead_to_the_same_weights_and_accumulators():
    before, found = trained(COMPILED)
    _, expected = trained(TENSORFLOW)
    # Steps, learning rate; an accumulator for each of five weights, and these.
    assert len(found) == 2 + 5 + 5
    moved = [np.any(a != b) for a, b in zip(before, found, strict=True)]
    assert moved == [True, False] + [True] * 10
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
