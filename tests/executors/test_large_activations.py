"""Programs of few large activations: a network of several branches is one body."""

import concurrent.futures

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

pytestmark = pytest.mark.every_executor

BRANCHES = 4
IMAGES = tf.TensorSpec([6, 24, 24, 8])


@pytest.fixture
def kernels():
    normal = tf.random.Generator.from_seed(3).normal
    return [tf.Variable(normal([3, 3, 8, 8]) / 8) for _ in range(BRANCHES)]


def network(kernels, images):
    """Returns the sum of branches: convolutions and max poolings, as in a PathNet."""
    found = [
        tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(images, k, 1, "SAME")), 2, 2, "SAME")
        for k in kernels
    ]
    return tf.nn.max_pool2d(tf.add_n(found), 3, 2, "VALID")


def gradients_of(run, kernels):
    @tf.function(autograph=False)
    def step(images):
        with tf.GradientTape() as tape:
            tape.watch(images)
            outputs = run(images)
            loss = tf.reduce_sum(outputs**2)
        return [outputs, *tape.gradient(loss, [images, *kernels])]

    return step


def define(kernels):
    with rtf.SubGraph("network") as subgraph:
        subgraph.output(network(kernels, subgraph.input(IMAGES)))
    return subgraph


@pytest.fixture
def images():
    return tf.random.Generator.from_seed(4).normal([2, *IMAGES.shape])


def test_values_and_gradients_are_those_of_the_function(kernels, images):
    plain = gradients_of(lambda x: network(kernels, x), kernels)
    step = gradients_of(define(kernels), kernels)
    for found, expected in zip(step(images[0]), plain(images[0]), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_so_are_those_of_a_map(kernels, images):
    plain = gradients_of(
        lambda x: tf.stack([network(kernels, each) for each in tf.unstack(x)]), kernels
    )
    step = gradients_of(define(kernels).map, kernels)
    for found, expected in zip(step(images), plain(images), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_threads_that_help_each_other_give_the_same(kernels, images):
    """A block that took long is helped from its second run on."""
    step = gradients_of(define(kernels), kernels)
    expected = [[t.numpy() for t in step(each)] for each in images]
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        runs = [threads.submit(step, images[i % 2]) for i in range(40)]
        for i, run in enumerate(runs):
            for found, known in zip(run.result(), expected[i % 2], strict=True):
                np.testing.assert_allclose(found, known, rtol=1e-4, atol=1e-4)


def test_an_error_in_a_branch_is_the_only_one(kernels, images):
    with rtf.SubGraph("network") as subgraph:
        x = subgraph.input(IMAGES)
        limit = subgraph.input(tf.float32)
        found = network(kernels, x)
        with tf.control_dependencies([tf.debugging.assert_less(found, limit)]):
            subgraph.output(tf.identity(found))
    step = tf.function(subgraph)
    for _ in range(5):
        step(images[0], tf.constant(1e9))
        with pytest.raises(tf.errors.InvalidArgumentError, match="'network' failed at"):
            step(images[0], tf.constant(-1.0))
