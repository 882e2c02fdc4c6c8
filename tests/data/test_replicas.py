"""Replicas of `tf.distribute` get their share of the trees of a batch."""

import json

import pytest

from tests.helpers.programs import run_code

pytestmark = pytest.mark.slow

PROGRAM = """
import json
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
import recursive_tf as rtf

strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
trees = rtf.data.from_nested([[1, 2], 3, [[4, 5], 6], [7, [8, 9]], [10, 11]])
dataset = tf.data.Dataset.from_tensor_slices(trees).batch(4)


@tf.function
def step(trees):
    with rtf.SubGraph("total") as total:
        node = total.input(tf.int32)
        total.output(
            tf.cond(
                tf.gather(trees.left, node) < 0,
                lambda: tf.gather(trees.tokens, node),
                lambda: total(tf.gather(trees.left, node))
                + total(tf.gather(trees.right, node)),
            )
        )
    return total.map(trees.roots)


batches = []
for batch in strategy.experimental_distribute_dataset(dataset):
    sums = strategy.experimental_local_results(strategy.run(step, args=(batch,)))
    batches.append([part.numpy().tolist() for part in sums])
print(json.dumps(batches))
"""


def test_each_replica_runs_half_of_every_batch(tmp_path):
    printed = run_code(PROGRAM, tmp_path)
    # Five trees: a batch of four, and a batch of one, which leaves a replica without.
    assert json.loads(printed.splitlines()[-1]) == [[[3, 3], [15, 24]], [[21], []]]
