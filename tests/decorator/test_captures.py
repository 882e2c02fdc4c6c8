"""A decorated function uses what is outside of it, where it is called."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of

pytestmark = pytest.mark.every_executor


class Sums:
    """Adds up rows that are found in an attribute."""

    @rtf.subgraph
    def total(self, i):
        if i >= tf.size(self.rows):
            return 0.0
        return self.rows[i] + self.total(i + 1)

    @tf.function
    def run(self, rows):
        self.rows = rows
        return self.total(0)


# --- Tensors and variables


def test_eager_tensors_are_used():
    scale, rows = tf.constant(2.0), tf.constant([1.0, 2.0, 3.0])

    @rtf.subgraph
    def f(i):
        if i > 2:
            return 0.0
        return scale * rows[i] + f(i + 1)

    assert float(f(0)) == 12


def test_an_update_of_a_variable_is_seen():
    weight = tf.Variable(2.0)

    @rtf.subgraph
    def power(n):
        if n < 1:
            return 1.0
        return weight * power(n - 1)

    before = float(power(3))
    weight.assign(3.0)
    assert [before, float(power(3))] == [8, 27]


def test_a_global_that_is_bound_anew_is_not_seen():
    scale = 2

    @rtf.subgraph
    def f(n):
        if n < 1:
            return 1
        return scale * f(n - 1)

    before = int(f(3))
    scale = 3
    assert [before, int(f(2))] == [8, 4]


def test_arrays_are_constants():
    rows = np.array([1.0, 2.0], np.float32)

    @rtf.subgraph
    def f(n):
        if n < 1:
            return tf.zeros([2])
        return f(n - 1) + rows

    assert f(3).numpy().tolist() == [3, 6]


@pytest.mark.falls_back("a list of unknown length")
def test_ragged_tensors_are_used():
    children = tf.ragged.constant([[1, 2], [], [3], []])

    @rtf.subgraph
    def count(node) -> tf.int32:
        found = 1
        for child in children[node]:
            found += count(child)
        return found

    assert [int(count(node)) for node in range(4)] == [4, 1, 2, 1]


# --- Tensors of a function around


def test_arguments_of_the_function_around_are_used():
    @tf.function
    def run(rows, last):
        @rtf.subgraph
        def total(i):
            if i >= last:
                return tf.zeros([])
            return rows[i] + total(i + 1)

        return total(0)

    assert float(run(tf.constant([1.0, 2.0]), 2)) == 3
    assert float(run(tf.constant([1.0, 2.0, 3.0]), tf.constant(3))) == 6


def test_tensors_of_each_function_around_are_its_own():
    sums = Sums()
    assert float(sums.run(tf.constant([1.0, 2.0]))) == 3
    assert float(sums.run(tf.constant([1.0, 2.0, 3.0]))) == 6
    assert float(sums.run(tf.constant([5.0, 2.0]))) == 7


def test_tensors_of_a_function_around_do_not_meet_eager_ones():
    sums = Sums()
    sums.rows = tf.constant([1.0, 2.0])
    eager = float(sums.total(0))
    in_a_function = float(sums.run(tf.constant([5.0])))
    sums.rows = tf.constant([8.0])  # Not seen: what is traced is traced.
    assert [eager, in_a_function, float(sums.total(0))] == [3, 5, 3]


def test_tensors_of_a_function_around_are_not_used_outside():
    sums = Sums()
    sums.run(tf.constant([1.0, 2.0]))
    message = message_of(lambda: sums.total(0))
    assert "SubGraph 'total' captured rows:0 of the function 'run'" in message
    sums.rows = tf.constant([1.0, 2.0])
    assert float(sums.total(0)) == 3


def test_tensors_of_a_branch_around_are_used_in_it():
    sums = Sums()

    @tf.function
    def run(rows, twice):
        def doubled():
            sums.rows = 2 * rows
            return sums.total(0)

        def single():
            sums.rows = rows
            return sums.total(0) + sums.total(1)

        return tf.cond(twice, doubled, single)

    rows, flags = tf.constant([1.0, 2.0]), tf.constant([True, False])
    assert [float(run(rows, flag)) for flag in flags] == [6, 5]


def test_a_loop_around_calls_it_every_time():
    weight = tf.Variable(2.0)

    @rtf.subgraph
    def power(n):
        if n < 1:
            return 1.0
        return weight * power(n - 1)

    @tf.function
    def run(n):
        total = 0.0
        for k in tf.range(n):
            total += power(k)
        return total

    assert float(run(tf.constant(5))) == 31


def test_tensors_of_a_body_around_are_used():
    @rtf.subgraph
    def outer(n):
        scale = 2 * n

        @rtf.subgraph
        def inner(k):
            if k < 1:
                return 0
            return inner(k - 1) + scale

        if n < 1:
            return 0
        return inner(3) + outer(n - 1)

    assert int(outer(3)) == 3 * 6 + 3 * 4 + 3 * 2


def test_tensors_of_the_body_of_a_subgraph_around_are_used():
    with rtf.SubGraph("f", output_signature=tf.int32) as f:
        n = f.input(tf.int32)
        scale = 2 * n

        @rtf.subgraph
        def inner(k):
            if k < 1:
                return tf.cond(n < 1, lambda: 0, lambda: f(n - 1))
            return inner(k - 1) + scale

        f.output(inner(3))
    assert int(f(3)) == 3 * 6 + 3 * 4 + 3 * 2


@pytest.mark.falls_back("an unknown shape")
def test_a_callee_uses_tensors_of_the_function_around_its_caller():
    class Holder:
        @rtf.subgraph
        def outer(self, n):
            if n < 1:
                return 0.0
            return self.inner(n) + self.outer(n - 1)

        @rtf.subgraph
        def inner(self, n):
            return self.x * tf.cast(n, tf.float32)

        @tf.function
        def run(self, x):
            self.x = x
            return self.outer(3)

    holder = Holder()
    assert float(holder.run(tf.constant(2.0))) == 12
    assert float(holder.run(tf.ones([1])[0] * 3)) == 18
    assert [float(x) for x in holder.run(tf.constant([1.0]))] == [6]


# --- Layers


class Encoder(tf.keras.layers.Layer):
    """Encodes a tree by rows of weights that are built when it is called first."""

    def __init__(self, left, right):
        super().__init__()
        self.left, self.right = tf.constant(left), tf.constant(right)
        self.leaf = tf.keras.layers.Embedding(len(left), 3)
        self.cell = tf.keras.layers.Dense(3, activation="tanh")

    def call(self, roots):
        return self.encode.map(roots)

    @rtf.subgraph
    def encode(self, node):
        if self.left[node] < 0:
            return self.leaf(node)
        left, right = self.encode(self.left[node]), self.encode(self.right[node])
        return self.cell(tf.concat([left, right], 0)[tf.newaxis])[0]

    def by_hand(self, node):
        if self.left[node] < 0:
            return self.leaf(node)
        both = self.by_hand(self.left[node]), self.by_hand(self.right[node])
        return self.cell(tf.concat(both, 0)[tf.newaxis])[0]


TREE = ([-1, -1, -1, 0, 3], [-1, -1, -1, 1, 2])


def test_layers_are_built_where_they_are_called_first():
    encoder = Encoder(*TREE)
    roots = tf.constant([4, 3, 0])
    found = encoder(roots)
    assert len(encoder.trainable_variables) == 3
    expected = [encoder.by_hand(root) for root in roots]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_layers_have_gradients():
    encoder = Encoder(*TREE)
    encoder(tf.constant([4]))

    def gradients(encode):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(encode() ** 2)
        found = tape.gradient(loss, encoder.trainable_variables)
        return [tf.convert_to_tensor(g) for g in found]

    root = tf.constant(4)
    expected = gradients(lambda: encoder.by_hand(root))
    for run in (lambda: encoder(root[tf.newaxis]), lambda: encoder.encode(root)):
        for found, by_hand in zip(gradients(run), expected, strict=True):
            np.testing.assert_allclose(found, by_hand, rtol=1e-4, atol=1e-6)


def test_a_model_with_a_decorated_method_is_fitted():
    encoder = Encoder(*TREE)
    nodes = tf.keras.Input([], dtype="int32")
    model = tf.keras.Model(nodes, tf.keras.layers.Dense(1)(encoder(nodes)))
    model.compile("sgd", "mse")
    roots, targets = tf.constant([4, 3, 2, 1]), tf.constant([1.0, 2.0, 3.0, 4.0])
    losses = model.fit(roots, targets, epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


# --- SavedModels


def test_what_calls_it_is_saved_and_loaded(tmp_path):
    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.weight = tf.Variable(2.0)

        @rtf.subgraph
        def power(self, n):
            if n < 1:
                return 1.0
            return self.weight * self.power(n - 1)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
        def run(self, rows):
            return self.power.map(rows)

    module = Module()
    module.power(2)
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.run(tf.constant([0, 1, 3])).numpy().tolist() == [1, 2, 8]


def test_a_dataset_maps_it():
    @rtf.subgraph
    def fib(n):
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    numbers = tf.data.Dataset.range(8).map(fib, num_parallel_calls=2)
    assert [int(n) for n in numbers] == [0, 1, 1, 2, 3, 5, 8, 13]
