"""Bodies use variables of another device than the call is on."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 120
PROGRAM = """
import json
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
parts = [tf.config.LogicalDeviceConfiguration() for _ in range(3)]
tf.config.set_logical_device_configuration(cpu, parts)

import recursive_tf as rtf

with tf.device("CPU:1"):
    scale = tf.Variable(2.0)
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
with tf.device("CPU:2"):
    bias = tf.Variable([0.5, 0.25])


def total(executor):
    with rtf.SubGraph("total", executor=executor) as total:
        n = total.input(tf.int32)
        total.output(
            tf.cond(
                n < 0,
                lambda: bias + 0,
                lambda: scale * tf.gather(table, n) + total(n - 1),
            )
        )
    return total(2)


def run(executor):
    with tf.GradientTape() as tape:
        with tf.device("CPU:0"):
            found = total(executor)
        loss = tf.reduce_sum(found)
    gradients = tape.gradient(loss, [scale, table, bias])
    dense = [tf.convert_to_tensor(gradient).numpy().tolist() for gradient in gradients]
    return [found.numpy().tolist(), *dense]


found = {
    name: {"eager": run(name), "traced": tf.function(total)(name).numpy().tolist()}
    for name in ("batched", "dataflow")
}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
def test_the_root_call_reads_them(found, executor):
    # 2 (1 + 3 + 5) + 0.5 and 2 (2 + 4 + 6) + 0.25.
    result, of_scale, of_table, of_bias = found[executor]["eager"]
    assert result == found[executor]["traced"] == [18.5, 24.25]
    assert of_scale == 21.0
    assert of_table == [[2.0, 2.0]] * 3
    assert of_bias == [1.0, 1.0]
