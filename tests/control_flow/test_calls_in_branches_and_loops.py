"""Calls in branches, in loops, and of each other: rows of docs/language.md."""

from functools import partial

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.unrolled import check_same
from tests.language.features import feature

feature = partial(feature, "Control flow in bodies")


@feature("calls in branches of `tf.cond`, `tf.switch_case`, `tf.case`", gradients=True)
def test_calls_in_branches(w):
    with rtf.SubGraph("walk") as walk:
        n, x = walk.input(tf.int32), walk.input(tf.float32)

        def some():
            odd = lambda: tf.sin(walk(n - 1, x)) * w  # noqa: E731
            even = lambda: walk(n - 1, x) + walk(n - 2, x * w)  # noqa: E731
            cases = [(tf.equal(n % 2, 1), odd)]
            return tf.switch_case(n // 4, [lambda: tf.case(cases, even), even])

        walk.output(tf.cond(n < 1, lambda: x, some))

    def plain(n, x):
        if n < 1:
            return x
        if n < 4 and n % 2 == 1:
            return tf.sin(plain(n - 1, x)) * w
        return plain(n - 1, x) + plain(n - 2, x * w)

    check_same(lambda x: walk(6, x), lambda x: plain(6, x), tf.constant(0.7), w)


@feature("calls in the body of a `tf.while_loop`", gradients=True)
def test_calls_in_a_loop(w):
    with rtf.SubGraph("walk") as walk:
        n, x = walk.input(tf.int32), walk.input(tf.float32)

        def children():
            turn = lambda i, y: (i + 1, y + tf.sin(walk(i, x * w)))  # noqa: E731
            return tf.while_loop(lambda i, _: i < n, turn, (0, x))[1]

        walk.output(tf.cond(n < 1, lambda: x, children))

    def plain(n, x):
        return x + sum([tf.sin(plain(i, x * w)) for i in range(n)], tf.constant(0.0))

    check_same(lambda x: walk(3, x), lambda x: plain(3, x), tf.constant(0.7), w)


@feature(
    "a `tf.TensorArray` of known length that a loop around a call writes and reads",
    gradients=True,
)
def test_lists_around_calls(w):
    with rtf.SubGraph("walk") as walk:
        n, x = walk.input(tf.int32), walk.input(tf.float32)

        def children():
            def turn(i, found):
                return i + 1, found.write(i, walk(i - 1, x * w) + found.read(i - 1))

            found = tf.TensorArray(tf.float32, 4, clear_after_read=False).write(0, x)
            found = tf.while_loop(lambda i, _: i < n + 1, turn, (1, found))[1]
            return found.read(n - 1) * found.read(n)

        walk.output(tf.cond(n < 1, lambda: x, children))

    def plain(n, x):
        if n < 1:
            return x
        found = [x]
        for i in range(1, n + 1):
            found.append(plain(i - 1, x * w) + found[-1])
        return found[n - 1] * found[n]

    check_same(lambda x: walk(3, x), lambda x: plain(3, x), tf.constant(0.7), w)


@pytest.mark.parametrize("growing", [False, True])
@feature(
    "a `tf.TensorArray` that grows, or of computed length, in such a loop",
    gradients=True,
    refused="the length of its list may differ between activations",
)
def test_lists_of_unlike_lengths_around_calls(growing, w):
    with rtf.SubGraph("walk") as walk:
        n, x = walk.input(tf.int32), walk.input(tf.float32)

        def children():
            def turn(i, found):
                return i + 1, found.write(i, walk(i, x * w))

            size = 0 if growing else n
            found = tf.TensorArray(tf.float32, size, dynamic_size=growing)
            found = tf.while_loop(lambda i, _: i < n, turn, (0, found))[1]
            return tf.sin(x) + tf.reduce_sum(found.stack())

        walk.output(tf.cond(n < 1, lambda: x, children))

    def plain(n, x):
        return tf.sin(x) + sum([plain(i, x * w) for i in range(n)]) if n else x

    check_same(lambda x: walk(3, x), lambda x: plain(3, x), tf.constant(0.7), w)


@feature("calls in the condition of a `tf.while_loop`", gradients=True)
def test_calls_in_a_condition(w):
    with rtf.SubGraph("walk") as walk:
        n, x = walk.input(tf.int32), walk.input(tf.float32)

        def grown():
            small = lambda y: walk(n - 1, y) < 2.0  # noqa: E731
            return tf.while_loop(small, lambda y: (y * w + 0.5,), (x,))[0]

        walk.output(tf.cond(n < 1, lambda: x, grown))

    def plain(n, x):
        while n > 0 and plain(n - 1, x) < 2.0:
            x = x * w + 0.5
        return x

    check_same(lambda x: walk(3, x), lambda x: plain(3, x), tf.constant(0.7), w)


@feature("AutoGraph's `if` around calls, with `output_signature=`", gradients=True)
def test_an_if_statement_around_calls(w):
    @tf.function
    def run(n, x):
        with rtf.SubGraph("walk", output_signature=tf.float32) as walk:
            n_left, y = walk.input(tf.int32), walk.input(tf.float32)
            if n_left < 1:
                found = y
            elif y > 1.0:
                found = tf.sin(walk(n_left - 1, y * w))
            else:
                found = walk(n_left - 1, y + w) * w
            walk.output(found)
        return walk(n, x)

    def plain(n, y):
        if n < 1:
            return y
        return tf.sin(plain(n - 1, y * w)) if y > 1.0 else plain(n - 1, y + w) * w

    check_same(lambda x: run(4, x), lambda x: plain(4, x), tf.constant(0.7), w)


@feature("calls of several SubGraphs that call each other", gradients=True)
def test_mutual_recursion(w):
    odd = rtf.SubGraph("odd", output_signature=tf.float32)
    with rtf.SubGraph("even") as even:
        n, x = even.input(tf.int32), even.input(tf.float32)
        even.output(tf.cond(n < 1, lambda: x, lambda: w * odd(n - 1, x)))
    with odd:
        n, x = odd.input(tf.int32), odd.input(tf.float32)
        odd.output(tf.cond(n < 1, lambda: -x, lambda: tf.sin(even(n - 1, x))))

    def plain(n, x, is_even=True):
        if n < 1:
            return x if is_even else -x
        rest = plain(n - 1, x, not is_even)
        return w * rest if is_even else tf.sin(rest)

    check_same(lambda x: even(5, x), lambda x: plain(5, x), tf.constant(0.7), w)


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@feature("recursion that calls itself twice")
def test_two_calls():
    with rtf.SubGraph("fib") as fib:
        n = fib.input(tf.int32)
        fib.output(tf.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
    assert fib.map(tf.range(12)).numpy().tolist() == list(map(fibonacci, range(12)))
