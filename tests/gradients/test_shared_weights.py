"""A weight that several kinds of nodes use has one gradient, added up once.

In the batched executor each kind is a block. What the blocks give is added up in the
backward root op: the graph behind it has no op for that.
"""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.close import assert_all_close

pytestmark = pytest.mark.every_executor

# The number of units, of which the larger one makes a matrix that threads share.
UNITS = [3, 160]


@pytest.fixture(params=UNITS)
def units(request):
    return request.param


@pytest.fixture
def weights(units):
    random = np.random.default_rng(units)

    def variable(*shape):
        return tf.Variable(random.normal(size=shape) / units, dtype=tf.float32)

    return variable(4, units), variable(units, units), variable(units)


def of_leaf(n, weights):
    words, kernel, bias = weights
    return tf.tanh(tf.linalg.matvec(kernel, tf.gather(words, n)) + bias)


def of_node(n, left, right, weights):
    words, kernel, bias = weights
    return tf.tanh(
        tf.linalg.matvec(kernel, left + right * 0.5) + bias * tf.gather(words, n)
    )


def define(weights):
    """Returns a SubGraph of n, over n - 1 and n - 2."""
    units = weights[2].shape[0]
    with rtf.SubGraph("f", output_signature=tf.TensorSpec([units])) as f:
        n = f.input(tf.int32)
        f.output(
            tf.cond(
                n < 2,
                lambda: of_leaf(n, weights),
                lambda: of_node(n, f(n - 1), f(n - 2), weights),
            )
        )
    return f


def unrolled(n, weights):
    if n < 2:
        return of_leaf(n, weights)
    left, right = unrolled(n - 1, weights), unrolled(n - 2, weights)
    return of_node(n, left, right, weights)


@pytest.fixture
def step(weights):
    f = define(weights)

    @tf.function
    def gradients(ns):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(f.map(ns) ** 2)
        return tape.gradient(loss, weights)

    return gradients


@pytest.mark.parametrize("ns", [[3, 2, 0], [1, 0], []])
def test_the_gradients_are_those_of_the_unrolled_model(step, weights, ns):
    with tf.GradientTape() as tape:
        loss = tf.add_n([tf.reduce_sum(unrolled(n, weights) ** 2) for n in [*ns, 0]])
    expected = tape.gradient(loss, weights)
    found = step(tf.constant([*ns, 0]))
    for ours, right in zip(found, expected, strict=True):
        assert_all_close(tf.convert_to_tensor(ours), tf.convert_to_tensor(right))


def test_each_row_of_a_table_that_all_kinds_look_up_in_has_one_slice(step):
    of_words = step(tf.constant([3, 3, 2]))[0]
    assert sorted(of_words.indices.numpy()) == [0, 1, 2, 3]


@pytest.mark.executor("batched")
def test_no_op_behind_the_backward_root_op_adds_up(step):
    graph = step.get_concrete_function(tf.TensorSpec([None], tf.int32)).graph
    (backward,) = (
        op
        for op in graph.get_operations()
        if op.type == "RecursiveInvokeBatchedGradient"
    )
    readers = {op.type for t in backward.outputs for op in t.consumers()}
    assert readers - {"Identity"} == {"RecursiveTie"}  # What the function returns.
