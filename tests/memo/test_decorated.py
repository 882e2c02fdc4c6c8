"""`@rtf.subgraph(memo=...)`, also where it runs as plain Python."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of


@pytest.fixture(params=["traced", "plain"])
def way(request):
    tf.config.run_functions_eagerly(request.param == "plain")
    yield request.param
    tf.config.run_functions_eagerly(False)


def define_fib():
    @rtf.subgraph(memo=lambda n: n)
    def fib(n):
        if n < 2:
            return tf.cast(n, tf.int64)
        return fib(n - 1) + fib(n - 2)

    return fib


@pytest.mark.usefixtures("way")
def test_a_function_is_called_once_for_each_key():
    fib = define_fib()
    assert int(fib(80)) == 23416728348467685
    assert fib.map([10, 80, 10]).numpy().tolist() == [55, 23416728348467685, 55]


class Scaled:
    @rtf.subgraph(memo=lambda self, n, scale=0.5: n)
    def power(self, n, scale=0.5):
        if n < 1:
            return 1.0
        return scale * self.power(n - 1, scale)


class Grid:
    def __init__(self):
        self.w = tf.Variable(2.0)

    @rtf.subgraph(memo=lambda self, i, j, *, kind="sum": i * 100 + j)
    def paths(self, i, j, *, kind="sum"):
        if i < 1 or j < 1:
            return self.w * 1.0
        up, left = self.paths(i - 1, j, kind=kind), self.paths(i, j - 1, kind=kind)
        return self.w * (up + left) / 4.0 if kind == "sum" else tf.maximum(up, left)


@pytest.mark.usefixtures("way")
def test_a_method_has_a_gradient_and_python_values_of_its_own():
    grid, other = Grid(), Grid()
    other.w.assign(3.0)
    with tf.GradientTape() as tape:
        y = grid.paths(20, 20)
    np.testing.assert_allclose(y, 2.0)
    assert float(tape.gradient(y, grid.w)) > 10
    assert float(grid.paths(20, 20, kind="max")) == 2.0
    assert float(other.paths(20, 20, kind="max")) == 3.0


def test_an_argument_that_is_differentiable_is_refused():
    message = message_of(lambda: Scaled().power(3))
    assert "with memo= no input may be differentiable" in message
    assert "SubGraph 'power'" in message


@pytest.mark.usefixtures("way")
def test_a_push_is_one_for_each_key():
    @rtf.subgraph(memo=lambda n: n)
    def f(n):
        f.push("n", 10 * n, index=n, size=6)
        if n < 1:
            return 1
        return f(n - 1) + f(n - 1)

    y, pushed = f(5, with_pushed=True)
    assert int(y) == 32
    assert pushed["n"].numpy().tolist() == [0, 10, 20, 30, 40, 50]


@pytest.mark.usefixtures("way")
def test_a_cycle_is_an_error():
    @rtf.subgraph(memo=lambda n: n % 3)
    def f(n) -> tf.int32:
        return f(n + 1) + 1

    for _ in range(2):
        with pytest.raises(tf.errors.FailedPreconditionError, match="SubGraph 'f'"):
            f(0)


def test_memo_may_use_a_tensor_of_the_function_around():
    @tf.function
    def run(width):
        @rtf.subgraph(memo=lambda i, j: i * width + j)
        def paths(i, j):
            if i < 1 or j < 1:
                return tf.constant(1, tf.int64)
            return paths(i - 1, j) + paths(i, j - 1)

        return paths(width - 1, width - 1)

    assert int(run(tf.constant(17))) == 601080390
    assert int(run(tf.constant(3))) == 6


def test_memo_is_a_function():
    with pytest.raises(TypeError, match="memo= is a function of the inputs"):
        rtf.subgraph(memo=[1])
