"""Gradients of outputs of any shape, and where a part has no gradient."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.control_flow.gradients.recursions import assert_same

pytestmark = [pytest.mark.every_executor, pytest.mark.slow]


def test_an_output_may_be_an_input_and_another_a_constant(w, x):
    with rtf.SubGraph("f") as f:
        y, n = f.input(tf.float32, [2]), f.input(tf.int32)
        f.output(
            tf.cond(
                n < 1,
                lambda: (y, tf.constant([1.0, 2.0]), y),
                lambda: tuple(w * z for z in f(y, n - 1)),
            )
        )

    def together(outputs):
        return outputs[0] * outputs[1] + tf.sin(outputs[2])

    def in_python(x):
        return together((w**2 * x, w**2 * tf.constant([1.0, 2.0]), w**2 * x))

    assert_same(lambda x: together(f(x, 2)), in_python, x, w)


@pytest.mark.falls_back("a shape that differs between invocations")
def test_rows_may_be_of_any_number(w, x):
    """A list that grows on the way down has a gradient of its own length."""
    with rtf.SubGraph("grow") as grow:
        rows, n = grow.input(tf.float32, [None, 2]), grow.input(tf.int32)
        grow.output(
            tf.cond(
                n < 1,
                lambda: tf.reduce_prod(rows, 0),
                lambda: grow(tf.concat([rows, rows[:1] * w], 0), n - 1),
            )
        )
    assert_same(lambda x: grow(x[tf.newaxis], 3), lambda x: x**4 * w**3, x, w)


@pytest.mark.parametrize("conditional", ["cond", "switch_case"])
def test_branches_may_return_shapes_of_their_own(w, conditional):
    with rtf.SubGraph("f", output_signature=tf.TensorSpec([None])) as f:
        n = f.input(tf.int32)
        branches = [lambda: tf.constant([0.3]), lambda: tf.tanh(w)]
        if conditional == "cond":
            f.output(tf.cond(n < 1, *branches))
        else:
            f.output(tf.switch_case(n, branches))
    for n, expected in ((0, [0.0, 0.0]), (1, 1 - np.tanh([0.5, -1.5]) ** 2)):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(f(n))
        gradient = tape.gradient(loss, w, unconnected_gradients="zero")
        np.testing.assert_allclose(gradient, expected, rtol=1e-5)


@pytest.mark.falls_back("an unknown shape")
def test_a_map_over_no_rows_of_unknown_shape_has_a_gradient():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        x = f.input(tf.float32, [None])
        f.output(tf.reduce_sum(x) * tf.cast(n, tf.float32))
    rows = tf.zeros([0, 3])
    with tf.GradientTape() as tape:
        tape.watch(rows)
        y = f.map(tf.zeros([0], tf.int32), rows)
    assert tape.gradient(y, rows).shape == [0, 3]


@pytest.mark.parametrize("kind", ["bool", "int32"])
def test_what_a_loop_only_reads_and_has_no_gradient_gets_none(w, kind):
    """TensorFlow's gradient of a loop has zeros for it, of its own dtype."""
    flag = tf.Variable(tf.cast(1, kind))

    with rtf.SubGraph("f", output_signature=tf.TensorSpec([2])) as f:
        n = f.input(tf.int32)

        def more():
            def step(i, y):
                return i + 1, tf.sin(w * y * tf.cast(flag, tf.float32))

            return tf.while_loop(lambda i, *_: i < 2, step, (0, f(n - 1)))[1]

        f.output(tf.cond(n < 1, lambda: tf.sin(w), more))

    def unrolled(n):
        y = tf.sin(w)
        for _ in range(2 * n):
            y = tf.sin(w * y)
        return y

    with tf.GradientTape() as tape:
        found = f(2)
    gradients = tape.gradient(found, [w, flag])
    with tf.GradientTape() as tape:
        expected = unrolled(2)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(gradients[0], tape.gradient(expected, w), rtol=1e-5)
    assert gradients[1] is None


@pytest.mark.parametrize("conditional", ["cond", "switch_case"])
def test_a_conditional_whose_inputs_have_no_gradient_has_one(conditional):
    scale = tf.Variable(0.5)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        branches = [lambda: tf.sin(tf.cast(n, tf.float32)), lambda: tf.constant(0.3)]
        if conditional == "cond":
            y = tf.cond(n < 1, *branches)
        else:
            y = tf.switch_case(n, branches)
        f.output(scale * y)
    with tf.GradientTape() as tape:
        y = f(1)
    np.testing.assert_allclose(tape.gradient(y, scale), 0.3, rtol=1e-6)
