"""With run_functions_eagerly a decorated function is plain Python recursion."""

import inspect

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.decorator.programs import BRANCHES, FUNCTIONS, LOOPS, plain
from tests.helpers.failures import message_of


@pytest.fixture(autouse=True)
def _plain_python():
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def name_of(define):
    return define.__name__.removeprefix("define_")


@pytest.mark.parametrize("define", [*BRANCHES, *LOOPS, *FUNCTIONS], ids=name_of)
def test_it_computes_the_same(define):
    decorated, expected = define(rtf.subgraph), define(plain)
    assert [int(decorated(n)) for n in range(6)] == [int(expected(n)) for n in range(6)]


def test_the_body_sees_eager_tensors_at_every_depth():
    seen = []

    @rtf.subgraph
    def f(n, how="down"):
        seen.append((n.numpy(), how))
        if n < 1:
            return 0
        return f(n - 1, how)

    assert f(2).numpy() == 0
    assert seen == [(2, "down"), (1, "down"), (0, "down")]
    assert f.subgraphs == []


def test_the_stack_is_that_of_the_recursion():
    stacks = []

    @rtf.subgraph
    def f(n):
        if n < 1:
            stacks.append([frame.function for frame in inspect.stack(0)])
            return 0
        return f(n - 1)

    f(3)
    assert stacks[0].count("f") == 4


def test_a_call_has_few_frames_so_that_recursions_may_be_deep():
    depths = []

    @rtf.subgraph
    def f(n):
        depths.append(len(inspect.stack(0)))
        if n < 1:
            return 0
        return f(n - 1)

    f(3)
    assert max(np.diff(depths)) <= 9


def test_an_error_is_the_users_own():
    @rtf.subgraph
    def f(n):
        if n < 1:
            raise KeyError("mine")
        return f(n - 1)

    assert message_of(lambda: f(2), KeyError) == "'mine'"


def test_arguments_and_results_are_tensors_as_ever():
    @rtf.subgraph
    def f(n: tf.int64, x) -> tf.TensorSpec([2]):
        assert n.dtype == tf.int64
        return tf.zeros([2]) if n > 0 else (x + 1)

    assert f(1, 2.0).dtype == tf.float32
    assert f(0, [1.0, 2.0]).numpy().tolist() == [2, 3]
    assert "missing a required argument: 'x'" in message_of(lambda: f(1))


def test_gradients_flow():
    w = tf.Variable(2.0)

    @rtf.subgraph
    def power(n):
        if n < 1:
            return 1.0
        return w * power(n - 1)

    with tf.GradientTape() as tape:
        y = power(3)
    assert float(tape.gradient(y, w)) == 12


def test_a_map_stacks_the_results():
    @rtf.subgraph
    def f(n, x):
        if n < 1:
            return x, n
        return f(n - 1, 2 * x)

    found, _ = f.map([1, 2], tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    assert found.numpy().tolist() == [[2, 4], [12, 16]]


def test_a_map_of_no_rows_is_refused():
    @rtf.subgraph
    def f(n):
        return n

    message = message_of(lambda: f.map(tf.zeros([0])))
    assert "Turn tf.config.run_functions_eagerly off" in message


def define_walk(index=lambda n: n):
    @rtf.subgraph
    def walk(n):
        value = tf.fill([2], tf.cast(n, tf.float32))
        walk.push("values", value, index=index(n), size=4)
        if n < 1:
            return n
        return walk(n - 1)

    return walk


def test_pushes_are_gathered():
    n, pushed = define_walk()(2, with_pushed=True)
    assert int(n) == 0
    expected = [[0, 0], [1, 1], [2, 2], [0, 0]]
    np.testing.assert_array_equal(pushed["values"], expected)


def test_pushes_of_a_map_are_gathered():
    walk = define_walk(index=lambda n: 3 - n)
    _, pushed = walk.map([0], with_pushed=True)
    np.testing.assert_array_equal(pushed["values"], np.zeros([4, 2]))
    assert int(walk(1)) == 0


def test_a_row_is_pushed_once():
    walk = define_walk(index=lambda n: n // 2)
    message = message_of(lambda: walk(2), tf.errors.InvalidArgumentError)
    assert "Push 'values' to row 0, which was pushed before" in message
    assert int(define_walk()(2)) == 0


def test_a_row_that_is_not_there_is_refused():
    message = message_of(lambda: define_walk()(4), tf.errors.OutOfRangeError)
    assert "Push 'values' has no row 4: it has 4." in message


def test_with_pushed_in_a_body_is_refused():
    @rtf.subgraph
    def f(n):
        if n < 1:
            return n
        return f(n - 1, with_pushed=True)

    assert "only a root call gathers" in message_of(lambda: f(1))


def test_a_subgraph_that_is_defined_calls_it_as_ever():
    @rtf.subgraph
    def double(n):
        return 2 * n

    with rtf.SubGraph("f") as f:
        f.output(double(f.input(tf.int32)))
    assert int(f(3)) == 6
    assert len(double.subgraphs) == 1
