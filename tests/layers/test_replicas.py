"""Replicas of `tf.distribute` train a TreeEncoder as one device does."""

import json
import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import json
import sys
import tensorflow as tf

devices = [f"CPU:{number}" for number in range(int(sys.argv[1]))]
cpu = tf.config.list_physical_devices("CPU")[0]
logical = [tf.config.LogicalDeviceConfiguration() for _ in devices]
tf.config.set_logical_device_configuration(cpu, logical)

import keras
import recursive_tf as rtf

trees = [[1, [2, 3]], 4, [[5, 1], [2, 4]], [3, 4], [[1, 2], 3], [4, [5, [1, 2]]]]
forest = rtf.data.from_nested([*trees, [1, 5], 2, [1, [2, 3]]], binary=True)
labels = tf.constant([0, 1, 0, 1, 1, 1, 0, 0, 1])
dataset = tf.data.Dataset.from_tensor_slices((forest, labels)).batch(4)

strategy = tf.distribute.MirroredStrategy(devices)
with strategy.scope():
    keras.utils.set_random_seed(0)
    inputs = rtf.layers.ForestInput()
    words = keras.layers.Embedding(6, 4)
    encoder = rtf.layers.TreeEncoder(rtf.layers.TreeLSTMCell(5), words)
    model = keras.Model(inputs, keras.layers.Dense(2)(encoder(inputs)))
    optimizer = keras.optimizers.Adam(0.1)
    optimizer.build(model.trainable_variables)
    loss_of = keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, reduction="none"
    )


def step_of_a_replica(forest, labels):
    with tf.GradientTape() as tape:
        losses = loss_of(labels, model(forest, training=True))
        loss = tf.nn.compute_average_loss(losses, global_batch_size=4)
    variables = model.trainable_variables
    optimizer.apply(tape.gradient(loss, variables), variables)
    return loss


@tf.function
def step(*batch):
    losses = strategy.run(step_of_a_replica, args=batch)
    return strategy.reduce("SUM", losses, axis=None)


def refusal():
    model.compile(loss=loss_of, metrics=["accuracy"])
    try:
        model.fit(dataset, verbose=0)
    except Exception as error:
        return str(error)


batches = strategy.experimental_distribute_dataset(dataset)
losses = [float(step(*batch)) for _ in range(3) for batch in batches]
predicted = model.predict(dataset.map(lambda forest, _: forest), verbose=0)
print(json.dumps([losses, predicted.tolist(), refusal()]))
"""


@pytest.fixture(scope="module")
def found():
    """Returns losses, predictions and what `fit` says, of one device and of two."""

    def run(devices):
        command = [sys.executable, "-c", PROGRAM, str(devices)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(done.stdout.splitlines()[-1])

    return run(1), run(2)


def test_two_replicas_learn_as_one_does(found):
    (one, _, _), (two, _, _) = found
    np.testing.assert_allclose(two, one, rtol=1e-4)
    # Nine trees in batches of four: the last one leaves a replica without.
    assert len(one) == 9
    assert two[6] < two[0] / 1.2


def test_two_replicas_predict_as_one_does(found):
    (_, one, _), (_, two, _) = found
    assert np.shape(two) == (9, 2)
    np.testing.assert_allclose(two, one, rtol=1e-4, atol=1e-5)


def test_fit_under_a_strategy_says_what_to_do(found):
    for _, _, refusal in found:
        assert "call `strategy.run` in a loop of your own" in refusal
