"""Root calls where there are other devices than CPUs."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.close import assert_all_close

needs_gpu = pytest.mark.skipif(
    not tf.config.list_physical_devices("GPU"), reason="there is no GPU"
)


def gradient_on(device, pinned=None):
    """Differentiates a recursion that is called, and whose body may be, on a device."""
    with tf.device(device):
        w = tf.Variable(tf.fill([4, 4], 0.3))
        x = tf.ones([2, 4])
    with rtf.SubGraph("power") as power:
        y, n = power.input(tf.float32, (2, 4)), power.input(tf.int32)

        def more():
            with tf.device(pinned):
                return tf.sin(tf.matmul(power(y, n - 1), w))

        power.output(tf.cond(n < 1, lambda: y, more))

    @tf.function
    def step(y):
        with tf.device(device), tf.GradientTape() as tape:
            loss = tf.reduce_sum(power(y, 5))
        return loss, tape.gradient(loss, w)

    return step(x)


@pytest.mark.every_executor
def test_soft_placement_where_there_is_no_such_device():
    """As TensorFlow does with any op that a device has no kernel for."""
    assert_all_close(gradient_on("GPU:7"), gradient_on("CPU:0"), rtol=1e-4)


@pytest.mark.every_executor
def test_ops_that_a_body_pins_run_where_the_root_call_does():
    assert_all_close(
        gradient_on("CPU:0", pinned="GPU:0"), gradient_on("CPU:0"), rtol=1e-4
    )


@needs_gpu
@pytest.mark.every_executor
@pytest.mark.parametrize("pinned", [None, "GPU:0"])
def test_a_root_call_on_a_gpu_runs_on_the_cpu(pinned):
    assert_all_close(gradient_on("GPU:0", pinned), gradient_on("CPU:0"), rtol=1e-4)
