"""Replicas of `tf.distribute`: each reads its own copy of a variable."""

import json
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = """
import json, sys
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
import recursive_tf as rtf

strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    w = tf.Variable(0.9)

# Outside of what the strategy runs: its body captures one replica's copy.
with rtf.SubGraph("power", executor=sys.argv[1]) as power:
    n = power.input(tf.int32)
    power.output(tf.cond(n < 1, lambda: 1.0, lambda: w * power(n - 1)))


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
print(json.dumps(found))
"""


@pytest.mark.parametrize("executor", ["dataflow", "batched"])
def test_a_replica_reads_its_own_copy_of_a_variable(executor):
    command = [sys.executable, "-c", PROGRAM, executor]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    for values, gradients in found.values():
        np.testing.assert_allclose(values, [0.9**2, 0.9**4], rtol=1e-6)
        np.testing.assert_allclose(gradients, [2 * 0.9, 4 * 0.9**3], rtol=1e-6)
