"""Blocks with lists: items are rows, and others than those of the activations.

That they compute what their bodies do is in tests/maps/test_lists.py.
"""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.blocks import compared
from tests.helpers.close import assert_all_close
from tests.maps.test_lists import BODIES, NODES, ROWS, TABLE, between, loss_of

COMPILED = [
    *("sum", "sum of everything", "sum that keeps its axis", "sum of sums"),
    *("largest", "least", "largest of everything", "mean", "mean of everything"),
    *("variance", "softmax over items", "log softmax over items", "matrix product"),
    *("product with a vector", "einsum", "with a row", "with a column", "choice"),
    *("softmax of each", "unit vectors", "dense layer", "reshape", "split", "size"),
    *("a row for each", "a column for each", "zeros", "places of items"),
    "two slices",
]
# Two lists of each node, of other lengths.
LEFT = tf.ragged.constant([[0, 1, 2], [], [3], [4, 4]], dtype=tf.int32)
RIGHT = tf.ragged.constant([[5], [0, 0, 1], [], [2, 3]], dtype=tf.int32)


@pytest.mark.parametrize("name", COMPILED)
def test_it_is_compiled(name):
    rows, shared = tf.Variable(ROWS), tf.Variable(TABLE)
    with rtf.SubGraph("f", executor="batched") as f:
        n = f.input(tf.int32)
        f.output(BODIES[name](between(rows, n) * 1.0, shared, n))
    explanation = rtf.explain(f)
    with tf.GradientTape() as tape:
        loss = loss_of(f.map(NODES))
    tape.gradient(loss, [rows, shared])
    assert explanation.not_compiled == {}


def two_lists(blocks, nodes, dtype):
    """Returns what a node computes of two lists that hang on each other."""
    table = tf.random.stateless_normal([6, 5], [1, 2], dtype=dtype)
    weights = tf.random.stateless_normal([5, 5], [3, 4], dtype=dtype)
    options = rtf.Options(blocks=blocks)
    with rtf.SubGraph("f", executor="batched", options=options) as f:
        node = f.input(tf.int32)
        left = tf.gather(table, tf.gather(LEFT, node))
        right = tf.gather(table, tf.gather(RIGHT, node))
        total = tf.tanh(tf.reduce_sum(left @ weights, 0))
        gates = tf.sigmoid(right @ weights + total)
        f.output(tf.reduce_sum(gates * right, 0) + tf.reduce_max(gates) * total)
    explanation = rtf.explain(f)
    with tf.GradientTape() as tape:
        tape.watch([table, weights])
        value = f.map(nodes)
    gradients = tape.gradient(value, [table, weights])
    return [value, *map(tf.convert_to_tensor, gradients)], explanation.not_compiled


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("nodes", [[0, 3], [3, 0, 3]], ids=["two", "three"])
def test_two_lists_of_a_node(nodes, dtype):
    found, not_compiled = two_lists("compiled", nodes, dtype)
    expected, _ = two_lists("tensorflow", nodes, dtype)
    for one, other in zip(found, expected, strict=True):
        assert_all_close(one, other, rtol=1e-5, atol=1e-5)
    assert not_compiled == {}


def sum_of_tree(blocks, nodes):
    """Adds up what below a node there is, wherever trees end."""
    children = tf.ragged.constant([[], [], [], [0, 1], [3, 2], [4], [5, 5, 3]])
    words = tf.random.stateless_normal([7, 4], [1, 2])
    weights = tf.random.stateless_normal([4, 4], [3, 4])
    options = rtf.Options(blocks=blocks)
    spec = tf.TensorSpec([4])
    with rtf.SubGraph("add_up", output_signature=spec, options=options) as add_up:
        node = add_up.input(tf.int32)
        below = add_up.map(tf.gather(tf.cast(children, tf.int32), node))
        word = tf.gather(words, node)
        gates = tf.sigmoid(below @ weights + word)
        add_up.output(word + tf.tanh(tf.reduce_sum(gates * below, 0)))
    explanation = rtf.explain(add_up)
    with tf.GradientTape() as tape:
        tape.watch([words, weights])
        value = add_up.map(nodes)
    gradients = tape.gradient(value, [words, weights])
    return [value, *map(tf.convert_to_tensor, gradients)], explanation


@pytest.mark.parametrize("nodes", [[6], [6, 4, 0], [0], [1, 2]])
def test_a_recursion_over_children(nodes):
    """Nodes without children are launched beside others, and alone."""
    found, explanation = sum_of_tree("compiled", nodes)
    assert explanation.executor == "batched"
    assert explanation.not_compiled == {}
    expected, _ = sum_of_tree("tensorflow", nodes)
    for one, other in zip(found, expected, strict=True):
        assert_all_close(one, other, rtol=1e-5, atol=1e-5)


def test_a_child_sum_tree_lstm_is_compiled():
    encoder = compared.encoder_of("ChildSum", 21, compared.COMPILED)
    step = tf.function(lambda forest: compared_gradients(encoder, forest))
    forest = compared.forest_of("ChildSum", 5)
    step(forest)
    explanation = rtf.explain(step)
    step(forest)
    assert explanation.not_compiled == {}


def compared_gradients(encoder, forest):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(encoder(forest, training=True))
    return tape.gradient(loss, [v.value for v in encoder.trainable_variables])
