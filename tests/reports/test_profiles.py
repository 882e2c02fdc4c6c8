"""Names in TensorFlow's profiler and in TensorBoard are those of the user's code."""

import re

import pytest
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.core.util import event_pb2

import recursive_tf as rtf
from tests.helpers.profiles import ops_in_profile


def step_of(name, blocks="tensorflow"):
    """Returns a training step of a SubGraph whose body names an op."""
    w = tf.Variable(tf.ones([3, 3]))
    with rtf.SubGraph(name, options=rtf.Options(blocks=blocks)) as power:
        y, n = power.input(tf.float32, (1, 3)), power.input(tf.int32)

        def more():
            return tf.sin(tf.matmul(power(y, n - 1), w, name="my_product"))

        power.output(tf.cond(n < 1, lambda: y, more, name="my_condition"))

    @tf.function(input_signature=[tf.TensorSpec([1, 3])])
    def step(y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(power(y, 4))
        return tape.gradient(loss, w)

    return step


def names_in_profile(run, folder):
    """Returns what the profiler calls the ops that ran."""
    return {name for name, _ in ops_in_profile(run, folder)}


@pytest.mark.every_executor
def test_a_profile_names_the_ops_of_the_body(tmp_path):
    step = step_of("power")
    y = tf.ones([1, 3])
    step(y)
    names = names_in_profile(lambda: step(y), tmp_path)
    assert any(re.fullmatch(r"power/.*my_product[^/]*(/MatMul)?", n) for n in names)
    assert any(re.fullmatch(r"power/.*my_product.*_grad/MatMul", n) for n in names)


def test_a_profile_names_compiled_blocks(tmp_path):
    step = step_of("power", blocks="compiled")
    y = tf.ones([1, 3])
    step(y)
    names = names_in_profile(lambda: step(y), tmp_path)
    (block,) = {name for name in names if name.startswith("power/more ")}
    assert f"gradient of {block}" in names
    assert f"deferred gradient of {block}" in names


@pytest.mark.every_executor
@pytest.mark.usefixtures("known")  # Of equal programs, ops are called after the first.
def test_a_name_that_ops_cannot_have(tmp_path):
    """TensorFlow's profiler would not know what it means."""
    step = step_of("λ of: trees")
    y = tf.ones([1, 3])
    step(y)
    names = names_in_profile(lambda: step(y), tmp_path)
    assert any(re.fullmatch(r"of__trees/.*Sin.*", name) for name in names)


@pytest.mark.every_executor
def test_tensorboard_shows_the_root_call(tmp_path):
    graph = step_of("power").get_concrete_function().graph
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.graph(graph)
    (file,) = tmp_path.iterdir()
    shown = graph_pb2.GraphDef()
    for record in tf.data.TFRecordDataset(str(file)):
        event = event_pb2.Event.FromString(record.numpy())
        shown.MergeFromString(event.graph_def)
    assert "power" in {node.name for node in shown.node}


@pytest.mark.parametrize("blocks", ["compiled", "tensorflow"])
def test_a_profile_has_kernels_that_run_where_the_executor_is(tmp_path, blocks):
    """The executor itself traces only those that it may hand to another thread."""
    step = step_of("power", blocks)
    optimizer = rtf.optimizers.SparseAdagrad()
    w = tf.Variable(tf.ones([3, 3]))
    optimizer.build([w])

    @tf.function
    def update(y):
        optimizer.apply([step(y)], [w])

    y = tf.ones([1, 3])
    update(y)
    kinds = {kind for _, kind in ops_in_profile(lambda: update(y), tmp_path)}
    assert kinds >= {
        "RecursiveInvokeBatched",
        "RecursiveInvokeBatchedGradient",
        "RecursiveApplyAdagrad",
    }
