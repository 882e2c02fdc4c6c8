"""The gradient of max pooling is TensorFlow's, whatever the windows and the numbers."""

import hypothesis
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import strategies as st

import recursive_tf as rtf
from recursive_tf.ops import library

pytestmark = pytest.mark.every_executor


@pytest.fixture
def images():
    """Numbers of which many are equal, so that the order of equal ones matters."""
    random = np.random.default_rng(3)
    return tf.constant(random.integers(-2, 3, [2, 9, 8, 5]), tf.float32)


def gradient_of(function, images):
    with tf.GradientTape() as tape:
        tape.watch(images)
        found = function(images)
        loss = tf.reduce_sum(tf.cumsum(tf.reshape(found, [-1])))
    return tape.gradient(loss, images)


def check(network, images):
    """Compares gradients of a network as a SubGraph with those of it as a function."""
    with rtf.SubGraph("network") as subgraph:
        spec = tf.TensorSpec(images.shape, images.dtype)
        subgraph.output(network(subgraph.input(spec)))
    found = tf.function(gradient_of, autograph=False)(subgraph, images)
    np.testing.assert_array_equal(found, gradient_of(network, images))


@pytest.mark.parametrize("padding", ["SAME", "VALID", [[0, 0], [0, 0], [1, 1], [0, 0]]])
@pytest.mark.parametrize(("size", "stride"), [(2, 2), (3, 2), (3, 1), ((1, 4), (3, 2))])
def test_windows(images, size, stride, padding):
    check(lambda x: tf.nn.max_pool2d(x, size, stride, padding), images)


@pytest.mark.parametrize("dtype", [tf.float64, tf.float16, tf.bfloat16])
def test_other_numbers(images, dtype):
    def network(x):
        return tf.nn.max_pool2d(tf.nn.relu(x[:, :4, :4]), 2, 2, "SAME")

    check(network, tf.cast(images, dtype))


def test_of_a_relu(images):
    check(lambda x: tf.nn.max_pool2d(tf.nn.relu(x), 2, 2, "SAME"), images)


def test_of_a_relu_that_others_take_as_well(images):
    def network(x):
        rectified = tf.nn.relu(x)
        pooled = tf.nn.max_pool2d(rectified, 3, 2, "SAME")
        return tf.concat([tf.reshape(t, [-1]) for t in (pooled, rectified)], 0)

    check(network, images)


def test_in_a_branch(images):
    def network(x):
        return tf.cond(
            tf.reduce_sum(x) > 1e6,
            lambda: x[:, :5, :4],
            lambda: tf.nn.max_pool2d(tf.nn.relu(x), 2, 2, "SAME"),
        )

    check(network, images)


def by_hand(images, gradient, size, stride, padding):
    """Returns the gradient by images, window by window."""
    found = np.zeros_like(images)
    before = [0, 0]
    if padding == "SAME":
        for i in (0, 1):
            reached = (gradient.shape[i + 1] - 1) * stride[i] + size[i]
            before[i] = max(reached - images.shape[i + 1], 0) // 2
    for image, y, x, channel in np.ndindex(gradient.shape):
        largest = None
        for i, j in np.ndindex(*size):
            row, column = y * stride[0] - before[0] + i, x * stride[1] - before[1] + j
            if not (0 <= row < images.shape[1] and 0 <= column < images.shape[2]):
                continue
            here = (image, row, column, channel)
            if largest is None or images[here] > images[largest]:
                largest = here
        found[largest] += gradient[image, y, x, channel]
    return found


@pytest.mark.traces_only
@hypothesis.given(data=st.data())
def test_of_infinities_and_nan(data):
    """The op itself: TensorFlow's kernels differ in what they make of NaN."""
    draw = data.draw
    height, width, channels = (draw(st.integers(1, 9)) for _ in range(3))
    size, stride = ([draw(st.integers(1, 4)) for _ in range(2)] for _ in range(2))
    padding = draw(st.sampled_from(["SAME", "VALID"]))
    hypothesis.assume(padding == "SAME" or (size[0] <= height and size[1] <= width))
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    numbers = [-np.inf, -1.0, 0.0, 1.0, 2.0, np.inf, np.nan]
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    images = random.choice(numbers, [2, height, width, channels]).astype(dtype)
    pooled = tf.nn.max_pool2d(images, size, stride, padding)
    gradient = random.integers(1, 5, pooled.shape).astype(dtype)
    found = library.recursive_max_pool_gradient(
        images, gradient, ksize=[1, *size, 1], strides=[1, *stride, 1], padding=padding
    )
    expected = by_hand(images, gradient, size, stride, padding)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.traces_only
def test_a_gradient_of_another_shape_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="has the shape"):
        library.recursive_max_pool_gradient(
            tf.zeros([1, 4, 4, 2]),
            tf.zeros([1, 3, 2, 2]),
            ksize=[1, 2, 2, 1],
            strides=[1, 2, 2, 1],
            padding="VALID",
        )
