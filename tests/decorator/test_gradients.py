"""Gradients of decorated functions are those of Python's recursion."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.decorator.programs import plain

pytestmark = pytest.mark.every_executor


def define_branches(decorate, w):
    @decorate
    def f(n, x):
        if n < 1:
            return x
        left = f(n - 1, x * w[0])
        if left > 0.5 and n > 2:
            return left * w[1]
        return tf.sin(left) + f(n - 2, w[2] * x)

    return lambda x: f(5, x)


def define_loop(decorate, w):
    @decorate
    def f(n, x):
        if n < 1:
            return x
        total = x
        for k in tf.range(n):
            total = total * w[0] + tf.sin(w[1] * f(k, x * w[2]))
        return total

    return lambda x: f(4, x)


def define_loop_without_calls(decorate, w):
    @decorate
    def f(n, x):
        if n < 1:
            return x
        y = f(n - 1, x * w[0])
        for k in tf.range(n):
            y = tf.sin(y) * w[1] + w[2] * tf.cast(k, tf.float32)
        return y + f(n - 2, x)

    return lambda x: f(4, x)


def define_mutual(decorate, w):
    @decorate
    def f(n, x):
        if n < 1:
            return x * w[0]
        return tf.sin(g(n - 1, x)) + g(n - 2, x)

    @decorate
    def g(n, x):
        if n < 1:
            return x * w[1]
        return w[2] * f(n - 1, x * x)

    return lambda x: f(5, x)


def define_structures(decorate, w):
    @decorate
    def f(n, state):
        if n < 1:
            return state
        below = f(n - 1, {"h": state["h"] * w[0], "c": (state["c"][0] + w[1],)})
        return {"h": below["h"] * below["c"][0], "c": (tf.sin(below["h"]) * w[2],)}

    def run(x):
        out = f(3, {"h": x, "c": (2 * x,)})
        return out["h"] + out["c"][0]

    return run


def define_growing(decorate, w):
    @decorate
    def f(n, x):
        if n < 1:
            return tf.reshape(x * w[0], [1])
        return tf.concat([f(n - 1, x * w[1]), [tf.sin(x) * w[2]]], 0)

    return lambda x: tf.reduce_sum(f(4, x) ** 2)


def define_methods(decorate, w):
    class Node:
        @decorate
        def f(self, n, x):
            if n < 1:
                return x
            return self.cell(self.f(n - 1, x), self.f(n - 2, x * x))

        def cell(self, left, right):
            return tf.tanh(left * w[0] + right * w[1]) + w[2]

    return lambda x: Node().f(5, x)


PROGRAMS = (
    define_branches,
    define_loop,
    define_loop_without_calls,
    define_mutual,
    define_structures,
    define_growing,
    define_methods,
)


def gradients(function, x, w):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return [y, *tape.gradient(y, [x, w])]


@pytest.mark.parametrize("way", [plain, tf.function], ids=["eagerly", "in_a_function"])
@pytest.mark.parametrize("define", PROGRAMS, ids=lambda d: d.__name__[7:])
@pytest.mark.falls_back("an unknown shape", at=define_growing)
def test_gradients_are_those_of_pythons_recursion(define, way):
    w = tf.Variable([0.9, 1.2, 0.7])
    x = tf.constant(0.8)
    decorated = way(lambda x: gradients(define(rtf.subgraph, w), x, w))
    expected = gradients(define(plain, w), x, w)
    for found, by_python in zip(decorated(x), expected, strict=True):
        np.testing.assert_allclose(found, by_python, rtol=1e-4)


def test_a_tape_that_is_there_while_it_is_traced_does_not_disturb():
    w = tf.Variable(2.0)

    @rtf.subgraph
    def power(n):
        if n < 1:
            return 1.0
        return w * power(n - 1)

    with tf.GradientTape(persistent=True) as tape:
        y = power(3)
    assert float(tape.gradient(y, w)) == 12


def test_embeddings_have_sparse_gradients():
    table = tf.Variable(tf.ones([5, 2]))

    @rtf.subgraph
    def total(i):
        if i < 1:
            return tf.gather(table, i)
        return tf.gather(table, i) + total(i - 1)

    with tf.GradientTape() as tape:
        y = tf.reduce_sum(total(2))
    gradient = tape.gradient(y, table)
    assert isinstance(gradient, tf.IndexedSlices)
    assert tf.convert_to_tensor(gradient)[:, 0].numpy().tolist() == [1, 1, 1, 0, 0]
