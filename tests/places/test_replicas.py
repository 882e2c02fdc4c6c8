"""Replicas of `tf.distribute`: each has its own variables and random numbers."""

import json

import numpy as np
import pytest

from tests.helpers.programs import run_code

PROGRAM = """
import json
import keras
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
import recursive_tf as rtf

strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    w = tf.Variable(0.9)
    seeds = keras.random.SeedGenerator(1)

# Outside of what the strategy runs: its body captures one replica's copy.
with rtf.SubGraph("power", executor=EXECUTOR) as power:
    n = power.input(tf.int32)
    power.output(tf.cond(n < 1, lambda: 1.0, lambda: w * power(n - 1)))

with rtf.SubGraph("draw", executor=EXECUTOR) as draw:
    n = draw.input(tf.int32)
    number = keras.random.uniform([], seed=seeds)
    draw.output(tf.cond(n < 1, lambda: number, lambda: number + 10 * draw(n - 1)))


def step(n):
    with tf.GradientTape() as tape:
        y = power(n)
    return y, tape.gradient(y, w)


def exponent(context):
    return tf.constant([2, 4][context.replica_id_in_sync_group])


exponents = strategy.experimental_distribute_values_from_function(exponent)
found = {}
for name, function in (("eager", step), ("function", tf.function(step))):
    results = strategy.run(function, args=(exponents,))
    local = map(strategy.experimental_local_results, results)
    found[name] = [[float(x) for x in values] for values in local]
drawn = tf.function(lambda: strategy.run(draw, args=(3,)))
found["drawn"] = [
    [float(x) for x in strategy.experimental_local_results(drawn())] for _ in range(2)
]
print(json.dumps(found))
"""


@pytest.fixture(scope="module", params=["dataflow", "batched"])
def found(request, tmp_path_factory):
    code = PROGRAM.replace("EXECUTOR", repr(request.param))
    printed = run_code(code, tmp_path_factory.mktemp("replicas"))
    return json.loads(printed.splitlines()[-1])


def test_a_replica_draws_its_own_numbers(found):
    """Of one Keras seed, of which all replicas have the same copy."""
    assert len({number for step in found["drawn"] for number in step}) == 4


def test_a_replica_reads_its_own_copy_of_a_variable(found):
    for values, gradients in (found["eager"], found["function"]):
        np.testing.assert_allclose(values, [0.9**2, 0.9**4], rtol=1e-6)
        np.testing.assert_allclose(gradients, [2 * 0.9, 4 * 0.9**3], rtol=1e-6)
