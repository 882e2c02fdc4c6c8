"""Forward mode of root calls that look up rows of a variable."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.root_calls.root_op import ROOT_OPS

pytestmark = pytest.mark.every_executor

N = 3
# What is looked up for the nth invocation, of a table.
LOOK_UPS = {
    "tf.gather": tf.gather,
    "tf.nn.embedding_lookup of two rows": lambda table, n: tf.reduce_sum(
        tf.nn.embedding_lookup(table, [n, n // 2]), 0
    ),
}


def define(look_up):
    """Returns a SubGraph of a table and a weight, that, and the same unrolled."""
    draw = np.random.default_rng(0).normal
    table = tf.Variable(draw(size=[5, 3]).astype(np.float32))
    weight = tf.Variable(draw(size=[3]).astype(np.float32))
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(
            tf.cond(
                n < 1,
                lambda: look_up(table, n) * weight,
                lambda: tf.sin(f(n - 1)) * weight + look_up(table, n),
            )
        )

    def unrolled():
        y = look_up(table, 0) * weight
        for n in range(1, N + 1):
            y = tf.sin(y) * weight + look_up(table, n)
        return y

    return (lambda: f(N)), unrolled, {"table": table, "weight": weight}


def tangent(function, variables):
    directions = [tf.cos(3 * variable) for variable in variables]
    with tf.autodiff.ForwardAccumulator(variables, directions) as forward:
        y = function()
    return forward.jvp(y).numpy()


def difference(function, variables):
    """Returns the same by values on both sides."""
    values = [variable.numpy() for variable in variables]
    found = []
    for step in (1e-2, -1e-2):
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value + step * tf.cos(3 * value))
        found.append(function().numpy())
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)
    return (found[0] - found[1]) / 2e-2


@pytest.mark.parametrize("after_a_tape", [False, True])
@pytest.mark.parametrize("of", [("table",), ("weight",), ("table", "weight")])
@pytest.mark.parametrize("look_up", LOOK_UPS.values(), ids=LOOK_UPS)
def test_look_ups_have_tangents(look_up, of, after_a_tape):
    function, unrolled, all_variables = define(look_up)
    variables = [all_variables[name] for name in of]
    if after_a_tape:
        with tf.GradientTape() as tape:
            y = function()
        tape.gradient(y, variables)
    found = tangent(function, variables)
    np.testing.assert_allclose(found, tangent(unrolled, variables), atol=1e-5)
    expected = difference(unrolled, variables)
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_a_tape_after_forward_mode_has_slices():
    function, unrolled, variables = define(tf.gather)
    tangent(function, [variables["table"]])

    def gradient_by_table(function):
        with tf.GradientTape() as tape:
            y = function()
        return tape.gradient(y, variables["table"])

    found, expected = map(gradient_by_table, (function, unrolled))
    assert isinstance(found, tf.IndexedSlices)
    np.testing.assert_allclose(
        tf.convert_to_tensor(found), tf.convert_to_tensor(expected), atol=1e-5
    )


# --- Accumulators in accumulators


def define_wave():
    """Returns a SubGraph that takes a number, and the same unrolled."""
    with rtf.SubGraph("wave") as wave:
        n, x = wave.input(tf.int32), wave.input(tf.float32)
        wave.output(tf.cond(n < 1, lambda: x, lambda: tf.sin(wave(n - 1, x)) * x))

    def unrolled(x):
        return tf.sin(x) * x

    return (lambda x: wave(1, x)), unrolled


def derivative(function, x, order):
    """Returns the derivative of an order, of accumulators in each other."""
    if not order:
        return function(x)
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as forward:
        inner = derivative(function, x, order - 1)
    return forward.jvp(inner)


def test_an_accumulator_in_another_has_the_second_derivative():
    function, unrolled = define_wave()
    x = tf.constant(0.7)
    found = derivative(function, x, 2)
    np.testing.assert_allclose(found, derivative(unrolled, x, 2), rtol=1e-4)


def test_calls_of_higher_gradients_have_static_shapes():
    """TensorFlow asks for zeros of their shapes where accumulators are in others."""
    function, _ = define_wave()

    @tf.function(autograph=False)
    def second(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = function(x)
            slope = inner.gradient(y, x)
        return outer.gradient(slope, x)

    graph = second.get_concrete_function(tf.TensorSpec([])).graph
    calls = [op for op in graph.get_operations() if op.type in ROOT_OPS]
    assert len(calls) == 2
    for call in calls:
        assert all(output.shape == [] for output in call.outputs[:-1])
