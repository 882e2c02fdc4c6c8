"""A body that is a network: many ops and no call, e.g. an unrolled LSTM."""

import logging

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.derivatives import curvatures, differentiated
from tests.helpers.profiles import ops_in_profile

BATCH, STEPS, UNITS = 3, 12, 5
# With "auto" a call and a map run in different executors.
in_both = pytest.mark.parametrize("executor", ["dataflow", "batched"])
INPUTS = tf.TensorSpec([BATCH, STEPS, UNITS])


@pytest.fixture
def kernel():
    normal = tf.random.Generator.from_seed(5).normal
    return tf.Variable(normal([2 * UNITS, 4 * UNITS]) / 3)


@pytest.fixture
def inputs():
    return tf.random.Generator.from_seed(6).normal([2, *INPUTS.shape])


def network(kernel, inputs):
    """Returns the sum of squares of h of all steps of an LSTM: a scalar.

    Time gates as those of a PhasedLSTM follow from weights alone.
    """
    h = c = tf.zeros([BATCH, UNITS])
    loss = tf.constant(0.0)
    for time, x in enumerate(tf.unstack(inputs, axis=1)):
        i, f, o, u = tf.split(tf.concat([x, h], 1) @ kernel, 4, axis=1)
        gate = tf.sigmoid(tf.sin((time + 1) * kernel[0, :UNITS]))
        c += gate * (tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(u) - c)
        h = tf.sigmoid(o) * tf.tanh(c)
        loss += tf.reduce_sum(h**2)
    return loss


def define(kernel, **choices):
    with rtf.SubGraph("network", **choices) as subgraph:
        subgraph.output(network(kernel, subgraph.input(INPUTS)))
    return subgraph


def gradients_of(run, kernel):
    return tf.function(differentiated(run, kernel), autograph=False)


def root_ops(step, *arguments):
    graph = step.get_concrete_function(*arguments).graph
    return {op.type for op in graph.get_operations() if op.type.startswith("Recurs")}


@in_both
def test_values_and_gradients_are_those_of_the_function(executor, kernel, inputs):
    plain = gradients_of(lambda x: network(kernel, x), kernel)
    step = gradients_of(define(kernel, executor=executor), kernel)
    for found, expected in zip(step(inputs[0]), plain(inputs[0]), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@in_both
def test_so_are_those_of_a_map(executor, kernel, inputs):
    plain = gradients_of(
        lambda x: tf.stack([network(kernel, each) for each in tf.unstack(x)]), kernel
    )
    step = gradients_of(define(kernel, executor=executor).map, kernel)
    for found, expected in zip(step(inputs), plain(inputs), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@in_both
def test_so_is_a_gradient_of_the_gradient(executor, kernel, inputs):
    def second(run):
        step = tf.function(lambda x: curvatures(run, x, [kernel]), autograph=False)
        return step(inputs[0])

    found = second(define(kernel, executor=executor))
    expected = second(lambda x: network(kernel, x))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


@in_both
def test_one_root_op_and_a_map_of_it_have_gradients_of_their_own(
    executor, kernel, inputs
):
    """One adds up gradients of weights in the body, the other one at the root."""
    subgraph = define(kernel, executor=executor)
    both = gradients_of(
        lambda x: subgraph(x[0]) + tf.reduce_sum(subgraph.map(x)), kernel
    )
    plain = gradients_of(
        lambda x: 2 * network(kernel, x[0]) + network(kernel, x[1]), kernel
    )
    for found, expected in zip(both(inputs), plain(inputs), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@in_both
def test_an_assertion_in_it_stays(executor, kernel, inputs):
    with rtf.SubGraph("network", executor=executor) as subgraph:
        x = subgraph.input(INPUTS)
        tf.debugging.assert_less(tf.reduce_max(x), 100.0)
        subgraph.output(network(kernel, x))
    step = tf.function(subgraph)
    step(inputs[0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="'network' failed at"):
        step(1000 * inputs[0])


def test_one_invocation_is_not_batched_and_a_map_is(kernel, inputs, caplog):
    caplog.set_level(logging.WARNING, "recursive_tf")
    subgraph = define(kernel)
    explanation = rtf.explain(subgraph)
    assert explanation.executor == "dataflow"
    assert "nothing to batch" in explanation.reasons[0]
    alone = tf.function(subgraph, autograph=False)
    assert "RecursiveInvoke" in root_ops(alone, inputs[0])
    mapped = tf.function(subgraph.map, autograph=False)
    assert "RecursiveInvokeBatched" in root_ops(mapped, inputs)
    np.testing.assert_allclose(alone(inputs[0]), mapped(inputs)[0], rtol=1e-5)
    assert not caplog.records


def test_who_wants_it_batched_gets_it_batched(kernel, inputs):
    alone = tf.function(define(kernel, executor="batched"), autograph=False)
    assert "RecursiveInvokeBatched" in root_ops(alone, inputs[0])


def test_what_a_batched_one_keeps_is_given_and_taken_by_one_op(
    kernel, inputs, tmp_path
):
    """Each op of TensorFlow's takes its time, and such a block keeps hundreds."""
    step = gradients_of(define(kernel, executor="batched"), kernel)
    step(inputs[0])
    ran = ops_in_profile(lambda: step(inputs[0]), tmp_path)
    assert {"RecursiveArguments", "RecursiveResults"} <= {kind for _, kind in ran}


@in_both
def test_tensorflow_rewrites_it(executor, kernel, inputs, tmp_path):
    """A square is traced as a power, here and in its gradient."""
    step = gradients_of(define(kernel, executor=executor), kernel)
    step(inputs[0])
    ran = ops_in_profile(lambda: step(inputs[0]), tmp_path)
    kinds = {kind for name, kind in ran if "network" in name}
    assert "Square" in kinds
    assert "Pow" not in kinds
