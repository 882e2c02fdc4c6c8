"""How each op changes with its inputs: as TensorFlow's forward mode says."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.program.effects import ops_within
from recursive_tf.python.tangent.op_tangents import _LINEAR, _PRODUCTS

pytestmark = [pytest.mark.every_executor, pytest.mark.slow]

X = np.array([[0.3, -0.4, 1.2], [0.7, 2.0, -0.1]], np.float32)
DIRECTION = np.array([[1.0, -2.0, 0.5], [3.0, 0.1, -1.0]], np.float32)
OTHER = tf.constant([[1.5, 0.2, -0.3], [0.4, -0.5, 0.6]])
WEIGHT = tf.constant([[0.5, 1.0], [-1.0, 0.3], [0.2, 0.8]])


def in_a_loop(x):
    """Writes and reads lists, and lets a variable change only from the second turn."""
    rows = tf.TensorArray(tf.float32, 3, element_shape=[2, 3])

    def turn(i, y, z, rows):
        return i + 1, y + z, z * x, rows.write(i, y * y)

    more = lambda i, *_: i < 3  # noqa: E731
    start = 0, tf.zeros([2, 3]), tf.ones([2, 3]), rows
    *_, z, rows = tf.while_loop(more, turn, start)
    return rows.stack() + z + rows.gather([2, 0])[:1] + rows.read(1)


def popped(x):
    handle = tf.raw_ops.EmptyTensorList(
        element_shape=[2, 3], max_num_elements=-1, element_dtype=tf.float32
    )
    for value in (x, OTHER, x * x):
        handle = tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=value)
    handle, last = tf.raw_ops.TensorListPopBack(
        input_handle=handle, element_shape=[2, 3], element_dtype=tf.float32
    )
    return last * tf.raw_ops.TensorListStack(
        input_handle=handle, element_shape=[2, 3], element_dtype=tf.float32
    )


def split_and_resized(x):
    parts = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, 1]).concat()
    rows = tf.TensorArray(tf.float32, 2).unstack(parts * x).gather([1])
    handle = tf.raw_ops.TensorListFromTensor(tensor=x * x, element_shape=[3])
    handle = tf.raw_ops.TensorListResize(input_handle=handle, size=1)
    return rows + tf.raw_ops.TensorListStack(
        input_handle=handle, element_shape=[3], element_dtype=tf.float32
    )


FUNCTIONS = {
    "AddN": lambda x: tf.add_n([x, OTHER, x * x]),
    "AddV2": lambda x: tf.stack([x + x * x, x + OTHER, OTHER + x, x[:1] + OTHER]),
    "BatchMatMulV2": lambda x: (
        (x[tf.newaxis] @ WEIGHT[tf.newaxis]) * tf.ones([2, 1, 1])
    ),
    "BroadcastTo": lambda x: tf.broadcast_to(x, [4, 2, 3]),
    "Complex": lambda x: tf.abs(tf.complex(x, x * x)),
    "ConcatV2": lambda x: tf.concat([OTHER, x, x * x], 1),
    "Cumsum": lambda x: tf.cumsum(x, 1, reverse=True),
    "EmptyTensorList": popped,
    "EuclideanNorm": lambda x: tf.math.reduce_euclidean_norm(x, 1),
    "ExpandDims": lambda x: tf.expand_dims(x, 1),
    "GatherNd": lambda x: tf.gather_nd(x, [[1, 2], [0, 0], [1, 2]]),
    "GatherV2": lambda x: tf.gather(x, [2, 0, 2], axis=1),
    "Identity": tf.identity,
    "MatMul": lambda x: tf.stack([x @ WEIGHT, x @ tf.transpose(x)]),
    "MatrixDiagPartV3": lambda x: tf.linalg.diag_part(x),
    "Mean": lambda x: tf.reduce_mean(x, 0),
    "Mul": lambda x: x * x * OTHER * x[:1],
    "Neg": lambda x: -x,
    "Pack": lambda x: tf.stack([x, OTHER]),
    "Pad": lambda x: tf.pad(x, [[1, 0], [0, 2]]),
    "Reshape": lambda x: tf.reshape(x, [3, 2]),
    "ReverseV2": lambda x: tf.reverse(x, [1]),
    "Roll": lambda x: tf.roll(x, 1, 1),
    "SelectV2": lambda x: tf.where(x > 0.5, x * x, OTHER) + tf.where(x > 0, 1.0, x),
    "Slice": lambda x: tf.slice(x, [0, 1], [2, 2]),
    "Split": lambda x: tf.split(x, 3, 1)[1],
    "SplitV": lambda x: tf.split(x, [1, 2], 1)[1],
    "Squeeze": lambda x: tf.squeeze(x[:1], 0),
    "StridedSlice": lambda x: x[::-1, tf.newaxis, 1:],
    "Sub": lambda x: tf.stack([x - x * x, x - OTHER, OTHER - x, OTHER - x[:1]]),
    "Sum": lambda x: tf.reduce_sum(x, 1),
    "TensorListReserve": in_a_loop,
    "TensorListResize": split_and_resized,
    "Tile": lambda x: tf.tile(x, [2, 1]),
    "Transpose": tf.transpose,
    "Unpack": lambda x: tf.unstack(x)[1],
    # Of these the gradient says it.
    "Cast": lambda x: tf.cast(tf.cast(x, tf.float64) ** 2, tf.float32),
    "Conv2D": lambda x: tf.nn.conv2d(
        x[None, ..., None], OTHER[..., None, None], 1, "SAME"
    ),
    "Einsum": lambda x: tf.einsum("ij,kj->ik", x, x),
    "L2Loss": tf.nn.l2_loss,
    "Max": lambda x: tf.reduce_max(x, 1),
    "Maximum": lambda x: tf.maximum(x, OTHER[:1]),
    "Pow": lambda x: tf.pow(tf.abs(x), OTHER),
    "Prod": lambda x: tf.reduce_prod(x, 1),
    "RealDiv": lambda x: OTHER[:1] / x + x / OTHER,
    "Relu": tf.nn.relu,
    "Sigmoid": tf.sigmoid,
    "Softmax": tf.nn.softmax,
    "Softplus": tf.nn.softplus,
    "SquaredDifference": lambda x: tf.math.squared_difference(x, OTHER[:1]),
    "Tanh": tf.tanh,
    "TopKV2": lambda x: tf.math.top_k(x, 2)[0],
}


def tangent(function, x):
    with tf.autodiff.ForwardAccumulator(x, tf.constant(DIRECTION)) as forward:
        y = function(x)
    return forward.jvp(y)


@pytest.mark.falls_back("a list of unknown length", at="EmptyTensorList")
@pytest.mark.falls_back("an op of lists without a rule", at="TensorListResize")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_op_changes_as_it_does_by_itself(name):
    function, x = FUNCTIONS[name], tf.constant(X)
    with rtf.SubGraph("op") as f:
        f.output(function(f.input(tf.float32, X.shape)))
    traced = tf.function(function)
    traced(x)
    expected = tangent(traced, x)
    assert expected is not None
    np.testing.assert_allclose(tangent(f, x), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.traces_only
def test_the_ops_that_are_said_to_be_linear_are_among_these():
    traced = [
        tf.function(function).get_concrete_function(tf.TensorSpec(X.shape))
        for function in FUNCTIONS.values()
    ]
    types = {op.type for t in traced for op in ops_within(t.graph)}
    assert set(_LINEAR) | _PRODUCTS <= types
