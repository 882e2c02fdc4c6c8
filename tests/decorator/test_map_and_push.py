"""`.map` and `.push` of decorated functions."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of
from tests.helpers.values import Pair

pytestmark = pytest.mark.every_executor

LEFT, RIGHT = tf.constant([-1, -1, -1, 0, 3]), tf.constant([-1, -1, -1, 1, 2])


@pytest.fixture
def fib():
    @rtf.subgraph
    def fib(n):
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    return fib


def define_sums():
    @rtf.subgraph
    def sums(node):
        if LEFT[node] < 0:
            total = tf.cast(node, tf.float32)
        else:
            total = sums(LEFT[node]) + sums(RIGHT[node])
        sums.push("total", total, index=node, size=5)
        return total

    return sums


# --- Map


@pytest.mark.parametrize(
    "rows", [[1, 5, 10], np.array([1, 5, 10]), tf.constant([1, 5, 10])]
)
def test_a_map_calls_for_each_row(fib, rows):
    assert fib.map(rows).numpy().tolist() == [1, 5, 55]


def test_a_map_and_a_call_share_a_subgraph(fib):
    before = fib.subgraph_for(3)
    fib.map([1, 2])
    assert fib.subgraph_for(4) is before


def test_a_map_takes_rows_by_name_and_python_values_for_all():
    @rtf.subgraph
    def f(n, x, how="sum"):
        if n < 1:
            return x
        return f(n - 1, x, how) + (1 if how == "sum" else 2)

    assert f.map([1, 2], x=[10, 20]).numpy().tolist() == [11, 22]
    assert f.map(n=[1, 2], x=[10, 20], how="?").numpy().tolist() == [12, 24]


def test_a_map_takes_and_returns_structures():
    @rtf.subgraph
    def f(pair, n):
        if n < 1:
            return pair
        return f(Pair(pair.right, pair.left), n - 1)

    found = f.map(Pair([[1, 2], [3, 4]], [[5, 6], [7, 8]]), tf.constant([2, 3]))
    assert found.left.numpy().tolist() == [[1, 2], [7, 8]]
    assert found.right.numpy().tolist() == [[5, 6], [3, 4]]


def test_a_map_takes_what_annotations_say():
    @rtf.subgraph
    def f(n: tf.int64, x: tf.TensorSpec([2])):
        if n < 1:
            return x
        return 2 * f(n - 1, x)

    assert f.map([1, 2], [[1, 2], [3, 4]]).numpy().tolist() == [[2, 4], [12, 16]]
    message = message_of(lambda: f.map([1, 2], [1, 2]))
    assert "Argument 'x' of SubGraph 'f' is float32[?, 2] by its annotation" in message


def test_a_map_of_a_method():
    class Scale:
        by = 3

        @rtf.subgraph
        def times(self, n):
            if n < 1:
                return 0
            return self.times(n - 1) + self.by

    assert Scale().times.map([1, 2, 4]).numpy().tolist() == [3, 6, 12]


def test_a_map_in_a_function(fib):
    run = tf.function(lambda rows: fib.map(rows))
    assert run(tf.constant([3, 7])).numpy().tolist() == [2, 13]
    assert run(tf.zeros([0], tf.int32)).shape == [0]


@pytest.mark.traces_only
def test_a_map_of_a_scalar_is_refused(fib):
    message = message_of(lambda: fib.map(3))
    assert "Argument 'n' of SubGraph 'fib' is a scalar, but a map takes rows" in message


@pytest.mark.traces_only
def test_a_map_without_tensors_is_refused():
    @rtf.subgraph
    def f(how):
        return 1

    assert "gets no tensor, so it has no rows" in message_of(lambda: f.map("x"))


def test_a_map_in_a_body_calls_for_each_row():
    @rtf.subgraph
    def count(n):
        if n < 1:
            return 1
        return 1 + tf.reduce_sum(count.map(tf.range(n)))

    assert [int(count(n)) for n in range(6)] == [1, 2, 4, 8, 16, 32]


# --- Push


def test_pushes_of_all_invocations_are_one_table():
    root, pushed = define_sums()(4, with_pushed=True)
    assert float(root) == 3
    assert pushed["total"].numpy().tolist() == [0, 1, 2, 1, 3]


def test_pushes_of_a_map_are_one_table():
    roots, pushed = define_sums().map([3, 2], with_pushed=True)
    assert roots.numpy().tolist() == [1, 2]
    assert pushed["total"].numpy().tolist() == [0, 1, 2, 1, 0]


def test_a_push_has_a_gradient():
    w = tf.Variable(2.0)

    @rtf.subgraph
    def power(n):
        value = 1.0 if n < 1 else w * power(n - 1)
        power.push("powers", value, index=n, size=4)
        return value

    with tf.GradientTape() as tape:
        _, pushed = power(3, with_pushed=True)
        loss = tf.reduce_sum(pushed["powers"])
    assert float(tape.gradient(loss, w)) == 1 + 2 * 2 + 3 * 4


def test_a_method_pushes():
    class Chain:
        @rtf.subgraph
        def run(self, n):
            self.run.push("n", n, index=n, size=3)
            if n < 1:
                return n
            return self.run(n - 1)

    _, pushed = Chain().run(2, with_pushed=True)
    assert pushed["n"].numpy().tolist() == [0, 1, 2]


def test_a_helper_pushes():
    @rtf.subgraph
    def f(n):
        note(n)
        if n < 1:
            return n
        return f(n - 1)

    def note(n):
        f.push("n", 10 * n, index=n, size=3)

    assert f(2, with_pushed=True)[1]["n"].numpy().tolist() == [0, 10, 20]


def test_functions_that_call_each_other_push():
    @rtf.subgraph
    def even(n):
        even.push("even", n, index=n, size=5)
        if n < 1:
            return n
        return odd(n - 1)

    @rtf.subgraph
    def odd(n):
        odd.push("odd", n, index=n, size=5)
        if n < 1:
            return n
        return even(n - 1)

    _, pushed = even(4, with_pushed=True)
    assert pushed["even"].numpy().tolist() == [0, 0, 2, 0, 4]
    assert pushed["odd"].numpy().tolist() == [0, 1, 0, 3, 0]


@pytest.mark.traces_only
def test_a_push_outside_of_the_body_is_refused():
    sums = define_sums()
    message = message_of(lambda: sums.push("total", 1.0, index=0, size=1))
    assert "`.push` of SubGraph 'sums' is called outside of its body" in message


@pytest.mark.traces_only
def test_a_push_in_the_body_of_another_is_refused():
    sums = define_sums()

    @rtf.subgraph
    def f(n):
        sums.push("total", 1.0, index=n, size=1)
        return n

    assert "`.push` of SubGraph 'sums' is called outside of its body" in message_of(
        lambda: f(1)
    )


@pytest.mark.traces_only
def test_with_pushed_in_a_body_is_refused():
    @rtf.subgraph
    def f(n) -> tf.int32:
        if n < 1:
            return n
        return f(n - 1, with_pushed=True)[0]

    assert "only a root call gathers" in message_of(lambda: f(1))
