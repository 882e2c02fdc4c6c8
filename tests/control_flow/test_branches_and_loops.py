"""Loops, conditionals and functions that stand in a body: rows of docs/language.md."""

from functools import partial

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.unrolled import check_rows, check_same
from tests.language.features import feature

feature = partial(feature, "Control flow in bodies")

ROWS = [0.2, 1.0, -0.5]


def repeat_while(condition, step, y):
    return tf.while_loop(
        lambda i, y: condition(i, y), lambda i, y: (i + 1, step(y)), (0, y)
    )[1]


# --- Loops


@feature("`tf.while_loop` that turns a fixed number of times", gradients=True)
def test_a_loop_of_fixed_length(w):
    def step(y, n):
        y += tf.cast(n, tf.float32)
        return repeat_while(lambda i, _: i < 3, lambda y: tf.sin(y * w), y)

    check_rows(step, ROWS, w)


@feature(
    "`tf.while_loop` whose number of turns depends on the activation", gradients=True
)
def test_a_loop_of_computed_length(w):
    def step(y, n):
        return repeat_while(lambda i, _: i < n, lambda y: tf.sin(y * w), y)

    check_rows(step, ROWS, w)


@feature("`tf.while_loop` until a computed value is reached", gradients=True)
def test_a_loop_until_a_value_is_reached(w):
    def step(y, n):
        return repeat_while(lambda _, y: y < 2.0, lambda y: y * w + 0.5, y / (n + 1))

    check_rows(lambda y, n: step(y, tf.cast(n, tf.float32)), ROWS, w)


FOLDS = {
    "map_fn": lambda pair, w: tf.reduce_sum(tf.map_fn(lambda z: tf.sin(z * w), pair)),
    "scan": lambda pair, w: tf.scan(lambda total, z: total + tf.sin(z * w), pair)[-1],
    "foldl": lambda pair, w: tf.foldl(lambda total, z: total + tf.sin(z * w), pair),
    "vectorized_map": lambda pair, w: tf.reduce_sum(
        tf.vectorized_map(lambda z: tf.sin(z * w), pair)
    ),
}


@pytest.mark.parametrize("fold", FOLDS.values(), ids=FOLDS)
@feature(
    "`tf.map_fn`, `tf.scan`, `tf.foldl`, `tf.vectorized_map` of a static shape",
    gradients=True,
)
def test_folds(fold, w):
    check_rows(lambda y, n: fold(tf.stack([y, tf.cast(n, y.dtype)]), w), ROWS, w)


@feature("`tf.TensorArray`", gradients=True)
def test_a_tensor_array(w):
    def step(y, n):
        values = tf.TensorArray(tf.float32, 2).write(0, y * w)
        values = values.write(1, tf.cast(n, tf.float32))
        return tf.reduce_prod(values.stack()) + tf.sin(values.read(0))

    check_rows(step, ROWS, w)


# --- Conditionals


@feature("`tf.cond`, also in `tf.cond`", gradients=True)
def test_conditionals(w):
    def step(y, n):
        inner = lambda: tf.cond(y > 0.5, lambda: tf.sin(y), lambda: y + w)  # noqa: E731
        return tf.cond(n > 1, inner, lambda: y * w)

    check_rows(step, ROWS, w)


@feature("`tf.switch_case`", gradients=True)
def test_switches(w):
    def step(y, n):
        return tf.switch_case(
            n % 3, [lambda: y * w, lambda: y + w, lambda: tf.sin(y) * w]
        )

    check_rows(step, ROWS, w)


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
def test_switches_by_one_index_with_other_numbers_of_branches(executor):
    """The last branch takes all that is beyond it, so a branch is not the other's."""
    w = tf.Variable([0.5, -1.5])

    def body(n):
        one = tf.switch_case(n, [lambda: tf.identity(w)])
        two = tf.switch_case(n, [lambda: tf.sin(one + w), lambda: tf.cos(w)])
        three = [lambda: two + w, lambda: two * w, lambda: two - w]
        return tf.switch_case(n, three)

    with rtf.SubGraph("switches", executor=executor) as switches:
        switches.output(body(switches.input(tf.int32)))
    for n in map(tf.constant, range(-1, 4)):
        np.testing.assert_allclose(switches(n), body(n), rtol=1e-6)


@feature("`tf.case`", gradients=True)
def test_cases(w):
    def step(y, n):
        cases = [(y < 0.0, lambda: y * w), (n > 1, lambda: tf.sin(y) * w)]
        return tf.case(cases, default=lambda: y + w)

    check_rows(step, ROWS, w)


@feature("`tf.case` with `exclusive=True`, which asserts it", gradients=True)
def test_exclusive_cases(w):
    def step(y, n):
        cases = [(y < 0.5, lambda: y * w), (y > 2.5, lambda: tf.sin(y) * w)]
        default = lambda: y + w + tf.cast(n, y.dtype)  # noqa: E731
        return tf.case(cases, default=default, exclusive=True)

    check_rows(step, ROWS, w)


@feature("`tf.cond` in a loop, on what depends on the activation", gradients=True)
def test_a_conditional_in_a_loop(w):
    def turn(y):
        return tf.cond(y > 1.0, lambda: tf.sin(y) * w, lambda: y + w)

    check_rows(lambda y, n: repeat_while(lambda i, _: i < 2, turn, y), ROWS, w)


@feature("`tf.where`", gradients=True)
def test_selections(w):
    check_rows(lambda y, n: tf.where((y > 1.0) & (n > 1), y * w, y + w), ROWS, w)


# --- Functions


@feature("`tf.function`s, with and without calls in them", gradients=True)
def test_functions(w):
    scaled = tf.function(lambda y, n: tf.sin(y) * w + tf.cast(n, y.dtype))
    check_rows(scaled, ROWS, w)
    with rtf.SubGraph("walk") as walk:
        n, x = walk.input(tf.int32), walk.input(tf.float32)
        further = tf.function(lambda: scaled(walk(n - 1, x), n))
        walk.output(tf.cond(n < 1, lambda: x, lambda: further()))

    def plain(n, x):
        return x if n < 1 else scaled(plain(n - 1, x), n)

    check_same(lambda x: walk(3, x), lambda x: plain(3, x), tf.constant(0.7), w)


@feature(
    "`tf.function`s with `jit_compile=True`, without calls in them", gradients=True
)
def test_compiled_functions(w):
    compiled = tf.function(lambda y: tf.sin(y) * 2.0, jit_compile=True)
    check_rows(lambda y, n: compiled(y) * w + tf.cast(n, y.dtype), ROWS, w)
