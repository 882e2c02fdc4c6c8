"""TreeEncoder: what a node takes, which forests go, own cells, errors, precision."""

from typing import NamedTuple

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.layers.cells import UNITS, node_by_node, output_of, random_weights

pytestmark = pytest.mark.slow

NESTED = [[1, [2, 3]], 4, [[5, 6], [7, 8]]]


def trees(binary=True):
    return rtf.data.from_nested(NESTED, binary=binary)


def embedding(**choices):
    return keras.layers.Embedding(10, 3, **choices)


def encoder_of(cell, *arguments, **choices):
    encoder = rtf.layers.TreeEncoder(cell, *arguments, **choices)
    encoder(trees())
    random_weights(encoder)
    return encoder


# --- What a node takes


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
def test_leaves_look_up_their_words_and_gradients_stay_sparse(executor):
    encoder = encoder_of(rtf.layers.TreeLSTMCell(UNITS), embedding(), executor=executor)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(encoder(trees()))
    gradient = tape.gradient(loss, encoder.embedding.embeddings.value)
    assert isinstance(gradient, tf.IndexedSlices)
    assert sorted(gradient.indices.numpy()) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_inputs_are_as_the_vectors_of_words():
    words = encoder_of(rtf.layers.TreeLSTMCell(UNITS), embedding())
    plain = rtf.layers.TreeEncoder(words.cell)
    x = words.embedding(tf.maximum(trees().tokens, 0))
    np.testing.assert_allclose(plain(trees(), x), words(trees()), rtol=1e-5)


def test_without_an_embedding_a_node_takes_its_token():
    class Sum(keras.layers.Layer):
        def leaf(self, x):
            return x

        def call(self, children, x):
            return children[0] + children[1]

    found = rtf.layers.TreeEncoder(Sum())(trees())
    assert found.numpy().tolist() == [6, 4, 26]


def test_strings_are_looked_up_in_the_body():
    lookup = keras.layers.StringLookup(vocabulary=["a", "b", "c"])

    class Words(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.table = embedding()

        def build(self, shape):
            self.table.build(shape)

        def call(self, word):
            return self.table(lookup(word))

        def compute_output_shape(self, shape):
            return (*shape, 3)

    encoder = rtf.layers.TreeEncoder(rtf.layers.TreeLSTMCell(UNITS), Words())
    found = encoder(rtf.data.from_nested([["a", ["b", "c"]]]))
    integers = rtf.layers.TreeEncoder(encoder.cell, encoder.embedding.table)
    expected = integers(rtf.data.from_nested([[1, [2, 3]]]))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_an_embedding_and_inputs_are_refused_together():
    encoder = encoder_of(rtf.layers.TreeLSTMCell(UNITS), embedding())
    with pytest.raises(ValueError, match="Leave out one of them"):
        encoder(trees(), tf.zeros([int(trees().num_nodes), 3]))


# --- Which forests


def test_a_binary_forest_goes_into_a_cell_of_any_number_and_back():
    x = tf.random.stateless_normal([int(trees().num_nodes), 3], [1, 2])
    for cell in (
        rtf.layers.ChildSumTreeLSTMCell(UNITS),
        rtf.layers.TreeLSTMCell(UNITS),
        rtf.layers.NaryTreeLSTMCell(UNITS, 2),
        rtf.layers.NaryTreeLSTMCell(UNITS, 4),
    ):
        encoder = rtf.layers.TreeEncoder(cell, executor="batched")
        one, other = (encoder(trees(binary), x) for binary in (True, False))
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_too_many_children_are_refused():
    three = rtf.data.from_nested([[1, 2, 3]])
    encoder = encoder_of(rtf.layers.TreeLSTMCell(UNITS), embedding())
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"has 3 children.*child or 2"
    ):
        encoder(three)
    nary = rtf.layers.TreeEncoder(
        rtf.layers.NaryTreeLSTMCell(UNITS, 2), executor="auto"
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="at most 2"):
        nary(three, tf.zeros([4, 3]))


def ladder(length):
    """Returns a graph with 2 ** length paths from its root: all children are shared."""
    below = np.arange(length + 1, dtype=np.int32) - 1
    tokens = np.zeros(length + 1, np.int32)
    return rtf.data.Forest(
        tokens=tokens, left=below, right=below, roots=[length], sizes=[length + 1]
    )


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
def test_nodes_that_share_children_are_evaluated_once(executor):
    encoder = encoder_of(
        rtf.layers.TreeLSTMCell(UNITS), embedding(), executor=executor, dag=True
    )
    short = ladder(5)
    plain = rtf.layers.TreeEncoder(encoder.cell, encoder.embedding)
    tree = rtf.data.from_nested(short.to_nested())  # A node for each path.
    np.testing.assert_allclose(encoder(short), plain(tree), rtol=1e-5)
    assert encoder(ladder(60)).shape == (1, UNITS)  # Else 2 ** 60 invocations.


# --- Own cells


class Pair(NamedTuple):
    total: tf.Tensor
    size: tf.Tensor


class MeanOfDense(keras.layers.Layer):
    """A cell without a base class, whose layers are made when they are called."""

    num_children = None
    inputs_at = "nodes"

    def __init__(self):
        super().__init__()
        self.own = keras.layers.Dense(UNITS)
        self.below = keras.layers.Dense(UNITS, "tanh")

    def leaf(self, x):
        return Pair(self.own(x[tf.newaxis])[0], tf.constant(1.0))

    def call(self, children, x):
        total = self.own(x[tf.newaxis])[0]
        total += tf.reduce_sum(self.below(children.total), 0)
        return Pair(total, 1 + tf.reduce_sum(children.size))

    def output_of(self, state):
        return state.total / state.size


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
@pytest.mark.parametrize("return_nodes", [False, True])
def test_a_cell_of_ones_own_needs_no_base_class(executor, return_nodes):
    forest = rtf.data.from_nested([[1, [2, 3, 4]], 4, [5, [6], [7, 8]]], binary=False)
    x = tf.random.stateless_normal([int(forest.num_nodes), 3], [1, 2])
    encoder = rtf.layers.TreeEncoder(
        MeanOfDense(), executor=executor, return_nodes=return_nodes
    )
    found = encoder(forest, x)
    assert len(encoder.trainable_variables) == 4
    states = node_by_node(encoder.cell, forest, x)
    expected = tf.stack([encoder.cell.output_of(state) for state in states])
    if not return_nodes:
        expected = tf.gather(expected, forest.roots)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
def test_an_own_output_has_the_gradient_of_the_cell_node_by_node(executor):
    forest = rtf.data.from_nested([[1, [2, 3, 4]], 4, [5, [6], [7, 8]]], binary=False)
    x = tf.Variable(tf.random.stateless_normal([int(forest.num_nodes), 3], [1, 2]))
    encoder = rtf.layers.TreeEncoder(MeanOfDense(), executor=executor)
    weights = tf.random.stateless_normal(encoder(forest, x).shape, [3, 4])

    def gradients(run):
        sources = [x, *(v.value for v in encoder.trainable_variables)]
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weights * run())
        return map(tf.convert_to_tensor, tape.gradient(loss, sources))

    def one_after_the_other():
        states = node_by_node(encoder.cell, forest, x)
        return tf.stack([encoder.cell.output_of(states[r]) for r in forest.roots])

    found = gradients(lambda: encoder(forest, x))
    for one, other in zip(found, gradients(one_after_the_other), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_roots_need_no_level_of_their_own_and_own_outputs_one_launch():
    encoder = rtf.layers.TreeEncoder(MeanOfDense(), name="encoder")
    forest = rtf.data.from_nested([[1, [2, 3, 4]], 4], binary=False)
    run = tf.function(encoder)
    run(forest, x := tf.ones([int(forest.num_nodes), 3]))
    recursion, output = rtf.explain(run)
    run(forest, x)
    assert str(recursion).startswith("SubGraph 'encoder' runs in the batched executor")
    assert str(output).startswith("SubGraph 'encoder_output' runs")
    assert [*output.launches.values()] == [1]


def test_what_is_no_cell_is_refused():
    with pytest.raises(TypeError, match=r"leaf\(x\) and call\(children, x\)"):
        rtf.layers.TreeEncoder(keras.layers.Dense(3))


def test_an_embedding_that_is_no_layer_is_refused():
    with pytest.raises(TypeError, match=r"embedding of words is .*Got 10\."):
        rtf.layers.TreeEncoder(rtf.layers.TreeLSTMCell(UNITS), 10, name="words")


def test_a_cell_that_returns_two_kinds_of_states_is_refused():
    class Wrong(keras.layers.Layer):
        def leaf(self, x):
            return x

        def call(self, children, x):
            return tf.cast(children[0], tf.float32)

    with pytest.raises(ValueError, match="Return the same structure"):
        rtf.layers.TreeEncoder(Wrong())(trees())


def test_another_value_than_a_forest_is_refused():
    encoder = encoder_of(rtf.layers.TreeLSTMCell(UNITS), embedding())
    with pytest.raises(TypeError, match=r"called with a recursive_tf\.data\.Forest"):
        encoder(tf.zeros([3], tf.int32))


def test_a_dict_of_arrays_is_as_the_forest():
    encoder = encoder_of(rtf.layers.TreeLSTMCell(UNITS), embedding())
    forest = trees()
    names = ("tokens", "left", "right", "roots", "sizes")
    arrays = {name: getattr(forest, name) for name in names}
    np.testing.assert_allclose(encoder(arrays), encoder(forest), rtol=1e-6)


# --- Keras


def test_a_config_makes_the_same_encoder():
    encoder = rtf.layers.TreeEncoder(
        rtf.layers.ChildSumTreeLSTMCell(UNITS, dropout=0.5),
        embedding(),
        executor="dataflow",
        return_nodes=True,
        dag=True,
        options=rtf.Options(max_depth=7, policy="depth"),
    )
    again = rtf.layers.TreeEncoder.from_config(encoder.get_config())
    assert again.get_config() == encoder.get_config()
    assert again.options == encoder.options
    assert again.cell.dropout.rate == 0.5


def test_options_hold():
    options = rtf.Options(max_depth=3)
    encoder = rtf.layers.TreeEncoder(
        rtf.layers.TreeLSTMCell(UNITS), embedding(), options=options
    )
    assert encoder(trees()).shape == (3, UNITS)  # Three levels of nodes.
    with pytest.raises(tf.errors.ResourceExhaustedError, match="max_depth"):
        encoder(rtf.data.from_nested([[1, [2, [3, 4]]]]))


def test_an_eager_call_is_traced_once():
    traces = []

    class Counting(rtf.layers.TreeRNNCell):
        def call(self, children, x=None):
            traces.append(x)
            return super().call(children, x)

    encoder = rtf.layers.TreeEncoder(Counting(3), embedding())
    encoder(trees())
    count = len(traces)
    encoder(trees()[:2])
    assert len(traces) == count


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize(
    "cell", [rtf.layers.TreeLSTMCell, rtf.layers.ChildSumTreeLSTMCell]
)
def test_mixed_precision(cell, policy):
    forest = trees().replace(tokens=tf.maximum(trees().tokens, 0))
    plain = rtf.layers.TreeEncoder(cell(UNITS), embedding())
    plain(forest)
    random_weights(plain)
    for executor in ("batched", "dataflow"):
        mixed = rtf.layers.TreeEncoder(
            cell(UNITS, dtype=policy),
            embedding(dtype=policy),
            executor=executor,
            dtype=policy,
        )
        mixed(forest)
        mixed.set_weights(plain.get_weights())
        with tf.GradientTape() as tape:
            found = mixed(forest)
            loss = tf.reduce_sum(tf.cast(found, tf.float32))
        gradients = tape.gradient(loss, mixed.trainable_variables)
        assert found.dtype.name == policy.removeprefix("mixed_")
        assert {v.dtype for v in mixed.trainable_variables} == {"float32"}
        assert {g.dtype for g in gradients} == {tf.float32}
        np.testing.assert_allclose(tf.cast(found, tf.float32), plain(forest), atol=0.02)


# --- Dropout


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
def test_dropout_hides_its_share_of_x_at_each_node(executor):
    cell = rtf.layers.TreeRNNCell(500, dropout=0.3)
    encoder = rtf.layers.TreeEncoder(cell, executor=executor, return_nodes=True)
    leaves = rtf.data.from_nested([1, 2, 3, 4])
    shown = encoder(leaves, tf.ones([4, 500]), training=True).numpy()
    assert abs(np.mean(shown == 0) - 0.3) < 0.05
    assert np.allclose(shown[shown != 0], 1 / 0.7)
    assert not np.array_equal(shown[0], shown[1])
    assert np.all(encoder(leaves, tf.ones([4, 500]), training=False) == 1)


class Passed(rtf.layers.TreeCell):
    """Shows what it got from its children."""

    def leaf(self, x):
        return tf.ones([self.units])

    def call(self, children, x=None):
        return self.recurrent_dropout(children[0])


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
def test_recurrent_dropout_hides_its_share_of_each_childs_h(executor):
    encoder = rtf.layers.TreeEncoder(
        Passed(1000, recurrent_dropout=0.4), executor=executor
    )
    pair = rtf.data.from_nested([[1, 2], [3, 4], [[5, 6], 7]])
    first, second, third = encoder(pair, training=True).numpy()
    assert abs(np.mean(first == 0) - 0.4) < 0.06
    assert abs(np.mean(third == 0) - (1 - 0.6**2)) < 0.06  # Twice.
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
def test_the_children_of_a_node_with_any_number_drop_the_same_parts(executor):
    class Shown(rtf.layers.ChildSumTreeLSTMCell):
        def leaf(self, x):
            return rtf.layers.LSTMState(*[tf.ones([self.units], x.dtype)] * 2)

        def call(self, children, x):
            h = tf.reduce_sum(self.recurrent_dropout(children.h), 0)
            return rtf.layers.LSTMState(h, h)

    encoder = rtf.layers.TreeEncoder(
        Shown(500, recurrent_dropout=0.4), executor=executor
    )
    forest = rtf.data.from_nested([[1, 2, 3]])
    shown = encoder(forest, tf.zeros([4, 1]), training=True).numpy()
    assert abs(np.mean(shown == 0) - 0.4) < 0.08
    np.testing.assert_allclose(shown[shown != 0], 3 / 0.6, rtol=1e-5)


def test_the_oracle_shows_more_than_the_root():
    forest = trees()
    cell = rtf.layers.TreeRNNCell(3)
    cell.build((3,))
    states = node_by_node(cell, forest, tf.ones([int(forest.num_nodes), 3]))
    assert len({tuple(output_of(state).numpy()) for state in states}) > 2
