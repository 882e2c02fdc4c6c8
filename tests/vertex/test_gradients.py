"""Gradients of vertex functions are those of a tape over a loop over vertices."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.close import assert_all_close
from tests.helpers.derivatives import curvatures
from tests.vertex import oracle
from tests.vertex.functions import (
    PAIR,
    SIZE,
    TREES,
    Weights,
    child_sum,
    n_ary,
    ragged,
    random_dag,
    rows,
)

pytestmark = pytest.mark.every_executor


def upstream(shape):
    return tf.constant(np.random.default_rng(7).normal(size=shape), tf.float32)


def check(found_of, expected_of, x, variables):
    """Compares gradients of two functions of x, eagerly and in a tf.function."""

    def gradients(f, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
            loss = tf.reduce_sum(y * upstream(y.shape))
        return tape.gradient(loss, [x, *variables])

    expected = gradients(expected_of, x)
    assert_all_close(gradients(found_of, x), expected, rtol=2e-5)
    traced = tf.function(lambda x: gradients(found_of, x))
    assert_all_close(traced(x), expected, rtol=2e-5)


def test_of_a_tree_lstm():
    weights = Weights(2)
    function = n_ary(weights, 2)
    tree_lstm = rtf.vertex(state=PAIR)(function)
    check(
        lambda x: tree_lstm(TREES, x),
        lambda x: oracle.run(function, PAIR, TREES, x),
        rows(len(TREES)),
        weights.variables,
    )


@pytest.mark.parametrize("seed", range(4))
def test_of_vertices_with_any_number_of_in_neighbors(seed):
    weights, lists = Weights(1, seed), random_dag(seed)
    function = child_sum(weights)
    over_all, graph = rtf.vertex(state=PAIR)(function), ragged(lists)
    check(
        lambda x: over_all(graph, x),
        lambda x: oracle.run(function, PAIR, lists, x),
        rows(len(lists), seed),
        weights.variables,
    )


def test_of_a_gradient():
    weights = Weights(2)
    function = n_ary(weights, 2)
    tree_lstm = rtf.vertex(state=PAIR)(function)
    x = rows(len(TREES))

    @tf.function
    def found():
        return curvatures(lambda x: tree_lstm(TREES, x), x, weights.variables)

    eagerly = curvatures(lambda x: tree_lstm(TREES, x), x, weights.variables)
    expected = curvatures(
        lambda x: oracle.run(function, PAIR, TREES, x), x, weights.variables
    )
    assert_all_close(found(), expected, rtol=1e-4, atol=1e-5)
    assert_all_close(eagerly, expected, rtol=1e-4, atol=1e-5)


def test_in_forward_mode():
    weights, x = Weights(2), rows(len(TREES))
    function = n_ary(weights, 2)
    tree_lstm = rtf.vertex(state=PAIR)(function)

    def tangents(run):
        with tf.autodiff.ForwardAccumulator(x, tf.sin(x)) as accumulator:
            y = run(x)
        return accumulator.jvp(y)

    expected = tangents(lambda x: oracle.run(function, PAIR, TREES, x))
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = tree_lstm(TREES, x)
        assert tape.gradient(y, weights.matrix) is not None
        assert_all_close(tangents(lambda x: tree_lstm(TREES, x)), expected, rtol=1e-4)


def test_in_forward_mode_by_a_variable():
    w = tf.Variable(3.0)

    @rtf.vertex(state=tf.float32)
    def f(v):
        y = w * (v.gather(0) + 1)
        v.scatter(y)
        v.push(y)

    with tf.autodiff.ForwardAccumulator(w, tf.constant(1.0)) as accumulator:
        y = f([[-1], [0]])
    assert accumulator.jvp(y).numpy().tolist() == [1, 1 + 2 * 3]


def test_by_a_small_tensor_of_the_outside():
    scale, x = tf.constant([2.0, 3.0]), tf.ones([2, 2])

    @rtf.vertex(state=tf.TensorSpec([2]))
    def f(v):
        y = scale * (v.gather(0) + v.pull())
        v.scatter(y)
        v.push(y)

    with tf.GradientTape() as tape:
        tape.watch(scale)
        last = f([[-1], [0]], x)[1]
    assert tape.gradient(last, scale).numpy().tolist() == [1 + 4, 1 + 6]


def test_of_look_ups_in_the_function():
    table = tf.Variable(rows(5))
    weights = Weights(1)
    words = tf.constant([3, 1, 3, 0])
    graph = [[-1], [0], [0], [2]]

    def function(v):
        x = tf.gather(table, v.pull())
        h, _ = v.gather(0)
        y = tf.tanh(h * weights.bias[:SIZE] + x)
        v.scatter((y, x))
        v.push(y)

    looked_up = rtf.vertex(state=PAIR)(function)

    def gradient(run):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(run() ** 2)
        return tape.gradient(loss, [table, weights.bias])

    found = gradient(lambda: looked_up(graph, words))
    assert isinstance(found[0], tf.IndexedSlices)
    expected = gradient(lambda: oracle.run(function, PAIR, graph, words))
    assert_all_close(found, expected)


def test_by_one_of_several_pushes():
    weights = Weights(2)

    def function(v):
        (hl, cl), (hr, cr) = v.gather(0), v.gather(1)
        h = tf.sin(hl * weights.bias[:SIZE] + hr + v.pull())
        c = cl * h + cr * weights.bias[SIZE : 2 * SIZE]
        v.scatter((h, c))
        v.push(h, name="h")
        v.push({"c": c, "sum": tf.reduce_sum(c)}, name="more")

    both = rtf.vertex(state=PAIR)(function)
    check(
        lambda x: both(TREES, x)["more"]["c"],
        lambda x: oracle.run(function, PAIR, TREES, x)["more"]["c"],
        rows(len(TREES)),
        [weights.bias],
    )


def test_of_what_no_push_reaches_there_is_none():
    v, w = tf.Variable(2.0), tf.Variable(3.0)

    @rtf.vertex(state=(tf.float32, tf.float32))
    def f(vertex):
        a, b = vertex.gather(0)
        vertex.scatter((a + v, b + w))
        vertex.push(a + v)

    with tf.GradientTape() as tape:
        y = tf.reduce_sum(f([[-1], [0], [1]]))
    of_v, of_w = tape.gradient(y, [v, w])
    assert of_v.numpy() == 6
    assert of_w is None or of_w.numpy() == 0


def test_of_double_precision_is_that_of_finite_differences():
    weights = Weights(2, dtype=tf.float64)
    state = tuple(tf.TensorSpec([SIZE], tf.float64) for _ in PAIR)
    tree_lstm = rtf.vertex(state=state)(n_ary(weights, 2))
    run = tf.function(lambda x: tree_lstm(TREES, x))
    x = rows(len(TREES), dtype=tf.float64)
    theory, numbers = tf.test.compute_gradient(run, [x], delta=1e-5)
    np.testing.assert_allclose(theory[0], numbers[0], atol=1e-8)
