"""Gradients through SubGraphs that call, or stand in, each other."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.control_flow.gradients.recursions import assert_same, recursion

pytestmark = [pytest.mark.every_executor, pytest.mark.slow]


def test_mutual_recursion(w, x):
    even, odd = rtf.SubGraph("even"), rtf.SubGraph("odd")
    with even:
        y, n = even.input(tf.float32, [2]), even.input(tf.int32)
        even.output(tf.cond(n < 1, lambda: y, lambda: w * odd(tf.sin(y), n - 1)))
    with odd:
        y, n = odd.input(tf.float32, [2]), odd.input(tf.int32)
        odd.output(tf.cond(n < 1, lambda: -y, lambda: y + even(w * y, n - 1)))

    def in_python(y, n):
        if n < 1:
            return y
        y = tf.sin(y)
        return w * (-y if n < 2 else y + in_python(w * y, n - 2))

    for n in (2, 3):
        assert_same(lambda x, n=n: even(x, n), lambda x, n=n: in_python(x, n), x, w)


def test_a_subgraph_that_another_one_calls(w, x):
    with rtf.SubGraph("scale") as scale:
        scale.output(w * scale.input(tf.float32, [2]))
    f = recursion(tf.sin, lambda x, n, f: scale(f(scale(x), n - 1)))
    assert_same(lambda x: f(x, 2), lambda x: w**2 * tf.sin(w**2 * x), x, w)


def test_what_a_subgraph_uses_of_the_body_around_it_has_a_gradient(w, x):
    with rtf.SubGraph("outer") as outer:
        y = outer.input(tf.float32, [2])
        hidden = w * y
        with rtf.SubGraph("inner") as inner:
            z, n = inner.input(tf.float32, [2]), inner.input(tf.int32)
            inner.output(tf.cond(n < 1, lambda: z, lambda: hidden * inner(z, n - 1)))
        outer.output(inner(tf.sin(y), 3))
    assert_same(outer, lambda x: (w * x) ** 3 * tf.sin(x), x, w)


def test_what_a_branch_hands_to_a_subgraph_within_it_has_a_gradient(w, x):
    with rtf.SubGraph("outer") as outer:
        y, n = outer.input(tf.float32, [2]), outer.input(tf.int32)

        def deeper():
            hidden = outer(w * y, n - 1)
            with rtf.SubGraph("inner") as inner:
                inner.output(hidden * inner.input(tf.float32, [2]))
            return inner(y) + inner(hidden)

        outer.output(tf.cond(n < 1, lambda: tf.sin(y), deeper))

    def in_python(y, n):
        if n < 1:
            return tf.sin(y)
        hidden = in_python(w * y, n - 1)
        return hidden * y + hidden * hidden

    assert_same(lambda x: outer(x, 2), lambda x: in_python(x, 2), x, w)


def test_the_callers_in_between_hand_on_what_is_hidden(w, x):
    """`inner` does not use the outer tensor: what it calls does."""
    with rtf.SubGraph("outer") as outer:
        y = outer.input(tf.float32, [2])
        hidden = w * y
        with rtf.SubGraph("leaf") as leaf:
            leaf.output(hidden * leaf.input(tf.float32, [2]))
        with rtf.SubGraph("inner") as inner:
            z, n = inner.input(tf.float32, [2]), inner.input(tf.int32)
            inner.output(tf.cond(n < 1, lambda: z, lambda: leaf(inner(z, n - 1))))
        outer.output(inner(tf.sin(y), 2))
    assert_same(outer, lambda x: (w * x) ** 2 * tf.sin(x), x, w)
