"""Conditionals, loops and functions around calls in a body."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.subgraphs import define_fib

pytestmark = pytest.mark.every_executor


@pytest.mark.parametrize("n", range(4))
def test_a_switch_case_calls_from_any_branch(n):
    with rtf.SubGraph("f") as f:
        m = f.input(tf.int32)
        branches = [lambda: 0, lambda: 10 + f(m - 1), lambda: 100 * f(m - 1)]
        f.output(tf.switch_case(m, branches, default=lambda: f(m - 1) + f(m - 2)))
    assert int(f(n)) == [0, 10, 1000, 1010][n]


def test_a_case_calls_from_any_branch():
    with rtf.SubGraph("collatz") as collatz:
        n = collatz.input(tf.int64)
        collatz.output(
            tf.case(
                [
                    (n <= 1, lambda: tf.constant(0)),
                    (tf.equal(n % 2, 0), lambda: 1 + collatz(n // 2)),
                ],
                default=lambda: 1 + collatz(3 * n + 1),
            )
        )
    assert int(collatz(27)) == 111


def test_conditionals_nest_in_conditionals():
    with rtf.SubGraph("f") as f:
        a, b = f.input(tf.int32), f.input(tf.int32)

        def more():
            return tf.switch_case(
                tf.minimum(b, 1),
                [lambda: f(a - 1, 2), lambda: tf.cond(a > b, lambda: 1, deeper)],
            )

        def deeper():
            return 10 + f(a, b - 1)

        f.output(tf.cond(a < 1, lambda: 0, more))
    assert int(f(2, 5)) == 41


def test_a_call_may_be_the_condition():
    with rtf.SubGraph("is_even") as is_even:
        n = is_even.input(tf.int32)
        is_even.output(
            tf.cond(
                n < 1,
                lambda: True,
                lambda: tf.cond(is_even(n - 1), lambda: False, lambda: True),
            )
        )
    assert [bool(is_even(n)) for n in range(4)] == [True, False, True, False]


def test_a_call_stands_beside_a_conditional():
    with rtf.SubGraph("f", output_signature=tf.int32) as f:
        n = f.input(tf.int32)
        small = tf.cond(n < 5, lambda: n, lambda: 5)
        f.output(small + tf.cond(n < 1, lambda: 0, lambda: f(n - 1)))
    assert int(f(7)) == 5 + 5 + 5 + 4 + 3 + 2 + 1


def test_a_loop_in_a_body_calls():
    with rtf.SubGraph("compositions") as compositions:
        n = compositions.input(tf.int32)

        def step(k, total):
            return k + 1, total + compositions(n - k)

        def sum_up():
            return tf.while_loop(lambda k, _: k <= n, step, (1, 0))[1]

        compositions.output(tf.cond(n < 1, lambda: 1, sum_up))
    assert [int(compositions(n)) for n in range(6)] == [1, 1, 2, 4, 8, 16]


def test_the_condition_of_a_loop_in_a_body_calls():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        more = lambda k: f(k // 2) + k < n  # noqa: E731
        loop = lambda: tf.while_loop(more, lambda k: (k + 1,), (0,))[0]  # noqa: E731
        f.output(tf.cond(n < 1, lambda: 0, loop))
    assert [int(f(n)) for n in range(8)] == [0, 1, 2, 2, 3, 4, 4, 5]


@pytest.mark.falls_back("a list of unknown length")
def test_a_loop_in_a_body_collects_calls_in_a_tensor_array():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def total():
            array = tf.TensorArray(tf.int32, n, element_shape=[])
            step = lambda k, a: (k + 1, a.write(k, f(k) + 1))  # noqa: E731
            array = tf.while_loop(lambda k, _: k < n, step, (0, array))[1]
            return tf.reduce_sum(array.stack())

        f.output(tf.cond(n < 1, lambda: 0, total))
    assert [int(f(n)) for n in range(6)] == [0, 1, 3, 7, 15, 31]


@pytest.mark.falls_back("a ragged row that is indexed")
def test_a_node_has_any_number_of_children():
    children = tf.ragged.constant([[1, 2, 3], [], [4], [], []])
    with rtf.SubGraph("count", output_signature=tf.int32) as count:
        node = count.input(tf.int32)
        own = children[node]
        step = lambda k, total: (k + 1, total + count(own[k]))  # noqa: E731
        count.output(tf.while_loop(lambda k, _: k < tf.size(own), step, (0, 1))[1])
    assert [int(count(node)) for node in range(5)] == [5, 1, 2, 1, 1]


def test_map_fn_in_a_body_calls_for_each_element():
    with rtf.SubGraph("double") as double:
        double.output(2 * double.input(tf.int32))
    with rtf.SubGraph("f") as f:
        f.output(tf.map_fn(double, f.input(tf.int32, [3])))
    assert f([1, 2, 3]).numpy().tolist() == [2, 4, 6]


def test_a_loop_around_a_root_call_invokes_every_time():
    fib = define_fib()

    @tf.function
    def total(n):
        step = lambda k, total: (k + 1, total + fib(k))  # noqa: E731
        return tf.while_loop(lambda k, _: k < n, step, (0, 0))[1]

    assert int(total(10)) == sum([0, 1, 1, 2, 3, 5, 8, 13, 21, 34])


def test_a_branch_around_a_root_call_invokes_if_taken():
    fib = define_fib()

    @tf.function
    def maybe(n):
        return tf.cond(n < 0, lambda: -1, lambda: fib(n))

    assert [int(maybe(tf.constant(n))) for n in (-5, 10)] == [-1, 55]


def test_autograph_statements_around_a_root_call_work():
    fib = define_fib()

    @tf.function
    def total(n):
        found = 0
        for k in tf.range(n):
            if k % 2 == 0:
                found += fib(k)
        return found

    assert int(total(10)) == 0 + 1 + 3 + 8 + 21


def test_a_body_is_defined_in_a_converted_function():
    @tf.function
    def fibonacci(n):
        return define_fib()(n)

    assert int(fibonacci(10)) == 55


def test_a_function_in_a_body_may_call_back():
    with rtf.SubGraph("f", output_signature=tf.int32) as f:
        n = f.input(tf.int32)

        @tf.function
        def previous(m):
            return f(m - 1) + 1

        f.output(tf.cond(n < 1, lambda: 0, lambda: previous(n)))
    assert int(f(5)) == 5


def test_a_function_in_a_body_may_use_the_bodys_tensors():
    with rtf.SubGraph("f", output_signature=tf.int32) as f:
        n = f.input(tf.int32)
        local = 10 * n

        @tf.function
        def add_up(m):
            return tf.cond(m < 1, lambda: local, lambda: f(m - 1) + local)

        f.output(add_up(n))
    assert int(f(4)) == 100
