"""A body uses tensors of the outside without naming them as inputs."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.unrolled import define_repeat

pytestmark = pytest.mark.every_executor


@pytest.mark.parametrize("dtype", [tf.int32, tf.float32, tf.complex64, tf.float64])
@pytest.mark.parametrize("shape", [[], [3], [100, 100]], ids=str)
def test_eager_tensors_of_every_size_are_captured(dtype, shape):
    outer = tf.cast(tf.fill(shape, 2), dtype)
    repeat = define_repeat(lambda x, n: x + outer, dtype, shape)
    np.testing.assert_array_equal(repeat(3, tf.zeros(shape, dtype)), 3 * outer)


def test_eager_strings_and_bools_are_captured():
    text, flag = tf.constant("ab"), tf.constant(True)
    more = lambda x, n: tf.cond(flag, lambda: x + text, lambda: x)  # noqa: E731
    assert define_repeat(more, tf.string)(2, "").numpy() == b"abab"


def test_arguments_of_the_function_around_are_captured():
    @tf.function
    def run(n, weights):
        return define_repeat(lambda x, _: x * weights, shape=[2])(n, tf.ones([2]))

    assert run(3, tf.constant([2.0, 3.0])).numpy().tolist() == [8, 27]


def test_results_of_the_function_around_are_captured():
    @tf.function
    def run(n, weights):
        doubled = 2 * weights
        return define_repeat(lambda x, _: x + doubled)(n, 0.0) + doubled

    assert float(run(3, 1.5)) == 12


def test_numpy_arrays_are_constants():
    array = np.array([1, 2], np.float32)
    found = define_repeat(lambda x, n: x + array, shape=[2])(3, [0, 0])
    assert found.numpy().tolist() == [3, 6]


def test_a_tensor_is_captured_from_within_nested_branches():
    outer = tf.constant(3.0)

    def step(x, n):
        add = lambda: tf.cond(n > 1, lambda: x + outer, lambda: x - outer)  # noqa: E731
        return tf.switch_case(n % 2, [lambda: x * outer, add])

    assert float(define_repeat(step)(3, 5.0)) == (5 - 3) * 3 + 3


def test_a_tensor_is_captured_from_within_a_loop():
    outer = tf.constant(2.0)

    def step(x, n):
        turn = lambda k, y: (k + 1, y * outer)  # noqa: E731
        return tf.while_loop(lambda k, _: k < n, turn, (0, x))[1]

    assert float(define_repeat(step)(3, 1.0)) == 2 ** (1 + 2 + 3)


def test_a_tensor_is_captured_from_within_a_function_in_the_body():
    outer = tf.constant(2.0)
    times = tf.function(lambda x: x * outer)
    assert float(define_repeat(lambda x, _: times(x))(3, 1.0)) == 8


def test_a_condition_may_be_an_outer_tensor():
    flag = tf.constant(False)
    step = lambda x, n: tf.cond(flag, lambda: x + 1, lambda: x + 2)  # noqa: E731
    assert float(define_repeat(step)(3, 0.0)) == 6


def test_an_output_may_be_an_outer_tensor():
    outer = tf.constant([1, 2])
    with rtf.SubGraph("f") as f:
        f.output(outer, f.input(tf.int32))
    assert f(3)[0].numpy().tolist() == [1, 2]


def test_an_argument_of_an_inner_call_may_be_an_outer_tensor():
    start = tf.constant(7)
    with rtf.SubGraph("f") as f:
        n, x = f.input(tf.int32), f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: x, lambda: f(n - 1, start)))
    assert int(f(2, 0)) == 7


def test_a_callee_captures_what_its_caller_does_not():
    outer = tf.constant(5)
    with rtf.SubGraph("callee") as callee:
        callee.output(callee.input(tf.int32) + outer)
    with rtf.SubGraph("caller") as caller:
        caller.output(callee(caller.input(tf.int32)))
    assert int(caller(1)) == 6


def test_the_tensors_of_each_trace_are_its_own():
    @tf.function
    def run(rows):
        last = tf.shape(rows)[0] - 1
        with rtf.SubGraph("total") as total:
            i = total.input(tf.int32)
            more = lambda: rows[i] + total(i + 1)  # noqa: E731
            total.output(tf.cond(tf.equal(i, last), lambda: rows[i], more))
        return total(0)

    assert float(run(tf.constant([1.0, 2.0]))) == 3
    assert float(run(tf.constant([1.0, 2.0, 3.0]))) == 6
    assert float(run(tf.constant([10.0, 20.0]))) == 30


def test_two_functions_capture_through_one_subgraph():
    outer = tf.constant(2.0)
    repeat = define_repeat(lambda x, _: x * outer)
    once, twice = (
        tf.function(lambda: repeat(1, 1.0)),
        tf.function(lambda: repeat(2, 1.0)),
    )
    assert [float(once()), float(twice()), float(repeat(3, 1.0))] == [2, 4, 8]


def test_a_map_gives_every_row_the_same_captures():
    outer = tf.constant([2.0, 3.0])
    repeat = define_repeat(lambda x, _: x * outer, shape=[2])
    found = repeat.map([0, 1, 2], tf.ones([3, 2]))
    assert found.numpy().tolist() == [[1, 1], [2, 3], [4, 9]]
