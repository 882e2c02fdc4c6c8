"""Where a root call stands: functions, data pipelines, Keras layers, threads."""

import threading

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.subgraphs import define_fib, define_triangle

pytestmark = pytest.mark.every_executor


def test_a_subgraph_of_the_outside_is_called_in_functions():
    fib = define_fib()
    assert int(tf.function(lambda n: fib(n) + fib(n + 1))(10)) == 55 + 89


@pytest.mark.falls_back("an unknown shape")
def test_a_function_is_traced_for_each_shape():
    triangle = define_triangle()
    extended = tf.function(lambda x: tf.concat([x, triangle(tf.size(x))], 0))
    assert extended(tf.zeros([2], tf.int32)).numpy().tolist() == [0, 0, 2, 1]
    assert extended(tf.zeros([1], tf.int32)).numpy().tolist() == [0, 1]


def test_one_subgraph_is_called_eagerly_and_in_functions():
    fib = define_fib()
    inside = tf.function(lambda n: fib(n))
    assert [int(fib(10)), int(inside(11)), int(fib(12))] == [55, 89, 144]


def test_a_root_call_may_feed_another():
    fib = define_fib()
    assert int(fib(fib(fib(6)))) == 10946


def test_a_dataset_maps_through_a_subgraph():
    fib = define_fib()
    numbers = tf.data.Dataset.range(8).map(lambda n: fib(tf.cast(n, tf.int32)))
    assert [int(n) for n in numbers] == [0, 1, 1, 2, 3, 5, 8, 13]


def test_a_dataset_maps_in_parallel_through_a_subgraph():
    fib = define_fib()
    numbers = tf.data.Dataset.range(8).map(
        lambda n: fib(tf.cast(n, tf.int32)), num_parallel_calls=4
    )
    assert [int(n) for n in numbers] == [0, 1, 1, 2, 3, 5, 8, 13]


class Fold(tf.keras.layers.Layer):
    """Folds a Dense layer over the rows of its input, from the last to the first."""

    def __init__(self, units):
        super().__init__()
        self.units = units
        self.dense = tf.keras.layers.Dense(units, activation="tanh")

    def call(self, rows):
        with rtf.SubGraph("fold") as fold:
            i = fold.input(tf.int32)

            def step():
                both = tf.concat([rows[i], fold(i + 1)], 0)
                return self.dense(both[tf.newaxis])[0]

            def zeros():
                return tf.zeros([self.units])

            fold.output(tf.cond(i < tf.shape(rows)[0], step, zeros))
        return fold(0)

    def by_hand(self, rows):
        state = tf.zeros([self.units])
        for row in reversed(rows):
            state = self.dense(tf.concat([row, state], 0)[tf.newaxis])[0]
        return state


def test_a_keras_layer_defines_a_subgraph_in_its_call():
    layer, rows = Fold(3), np.random.default_rng(0).normal(size=[4, 2]).astype("f")
    np.testing.assert_allclose(layer(rows), layer.by_hand(rows), rtol=1e-5)


def test_a_layer_used_in_a_body_builds_its_weights_once():
    layer = Fold(3)
    layer(np.ones([4, 2], np.float32))
    layer(np.ones([5, 2], np.float32))
    assert [tuple(w.shape) for w in layer.dense.weights] == [(5, 3), (3,)]


def test_a_keras_layer_with_a_subgraph_works_in_functions():
    layer, rows = Fold(3), np.random.default_rng(0).normal(size=[4, 2]).astype("f")
    found = tf.function(layer)(tf.constant(rows))
    np.testing.assert_allclose(found, layer.by_hand(rows), rtol=1e-5)


def test_a_built_layer_is_used_in_a_body_of_the_outside():
    dense = tf.keras.layers.Dense(2, use_bias=False)
    dense.build([None, 2])
    with rtf.SubGraph("power") as power:
        n, x = power.input(tf.int32), power.input(tf.float32, [2])
        more = lambda: power(n - 1, dense(x[tf.newaxis])[0])  # noqa: E731
        power.output(tf.cond(n < 1, lambda: x, more))
    kernel = dense.kernel.numpy()
    expected = np.ones(2) @ kernel @ kernel @ kernel
    np.testing.assert_allclose(power(3, tf.ones([2])), expected, rtol=1e-5)


def test_dropout_in_a_body_drops_elements_of_every_invocation_anew():
    dropout = tf.keras.layers.Dropout(0.5, seed=0)
    with rtf.SubGraph("f") as f:
        n, x = f.input(tf.int32), f.input(tf.float32, [100])
        drop = lambda: dropout(f(n - 1, x), training=True)  # noqa: E731
        f.output(tf.cond(n < 1, lambda: x, drop))
    shares = [np.mean(f(n, tf.ones([100])) == 0) for n in (1, 3)]
    np.testing.assert_allclose(shares, [1 / 2, 7 / 8], atol=0.15)


def test_subgraphs_are_defined_in_several_threads_at_once():
    results = {}

    def run(k):
        with rtf.SubGraph("f") as f:
            n = f.input(tf.int32)
            f.output(tf.cond(n < 2, lambda: n + k, lambda: f(n - 1) + f(n - 2)))
        results[k] = int(f(8))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {k: 21 + 34 * k for k in range(8)}
