"""examples/mixture_of_experts.py: values and gradients are those of plain Python."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.examples.loading import run_as_plain_python


def plain_descend(mixture, x, node, num_gates, sure):
    gates, experts = mixture.gates.numpy(), mixture.experts.numpy()
    if node >= num_gates:
        return np.polyval(experts[node - num_gates], x), 1
    weight = 1 / (1 + np.exp(-np.polyval(gates[node], x)))
    sides = [
        plain_descend(mixture, x, 2 * node + side, num_gates, sure) for side in (1, 2)
    ]
    if weight < sure or weight > 1 - sure:
        return sides[int(weight > sure)]
    (left, left_count), (right, right_count) = sides
    return (1 - weight) * left + weight * right, left_count + right_count


@pytest.mark.every_executor
def test_it_is_that_of_plain_python(example):
    mixture = example.Mixture()
    mixture.experts.assign(tf.random.Generator.from_seed(0).normal([4, 2]))
    x = tf.linspace(-2.0, 2.0, 23)
    found, counts = mixture.descend.map(x, tf.zeros(23, tf.int32))
    choices = example.NUM_GATES, example.SURE
    expected = [plain_descend(mixture, row, 0, *choices) for row in x.numpy()]
    np.testing.assert_allclose(found, [value for value, _ in expected], atol=1e-5)
    assert counts.numpy().tolist() == [count for _, count in expected]
    assert set(counts.numpy()) >= {1, 2, 4}


@pytest.mark.every_executor
def test_gradients_are_those_of_plain_python(example):
    mixture = example.Mixture()
    mixture.experts.assign(tf.random.Generator.from_seed(0).normal([4, 2]))
    x = tf.linspace(-2.0, 2.0, 7)

    def gradients():
        with tf.GradientTape() as tape:
            found, _ = mixture.descend.map(x, tf.zeros(7, tf.int32))
            loss = tf.reduce_sum(found**2)
        found = tape.gradient(loss, mixture.trainable_variables)
        return [tf.convert_to_tensor(gradient) for gradient in found]

    with run_as_plain_python():
        expected = gradients()
    for found, plain in zip(gradients(), expected, strict=True):
        np.testing.assert_allclose(found, plain, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@pytest.mark.every_executor
def test_the_loss_falls_and_gates_become_sure(example):
    history = example.train(example.Mixture(), tf.linspace(-1.0, 1.0, 21), steps=60)
    (first_loss, first_count), (last_loss, last_count) = history[0], history[-1]
    assert last_loss < first_loss / 5
    assert last_count < first_count - 0.5


def test_it_runs_where_the_table_says(example, executor_in_table):
    subgraph = example.Mixture().descend.subgraph_for(0.5, 0)
    assert rtf.explain(subgraph).executor == executor_in_table
