"""examples/tree_decoder.py: it grows what plain Python grows, and learns to."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.examples.loading import run_as_plain_python


def plain_growth(example, decoder):
    """Returns the table that a decoder pushes."""
    table = np.zeros(example.NUM_ROWS, int)

    def grow(row, parent, before):
        if row >= example.NUM_ROWS:
            return
        state, label, goes_on = decoder.node(parent, before)
        table[row] = 1 + np.argmax(label)
        if goes_on[0] > 0:
            grow(2 * row + 1, state, tf.zeros_like(state))
        if goes_on[1] > 0:
            grow(2 * row + 2, parent, state)

    grow(0, *start_of(example))
    return table


def start_of(example):
    return tf.ones([example.SIZE]), tf.zeros([example.SIZE])


@pytest.mark.every_executor
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_it_grows_what_plain_python_grows(example, seed):
    decoder = example.Decoder(seed)
    size, pushed = decoder.grow(0, *start_of(example), with_pushed=True)
    expected = plain_growth(example, decoder)
    np.testing.assert_array_equal(pushed["label"], expected)
    assert size.numpy() == np.count_nonzero(expected)


@pytest.mark.every_executor
def test_a_tree_that_never_ends_ends_with_the_table(example):
    decoder = example.Decoder()
    decoder.next_weights.assign(tf.zeros_like(decoder.next_weights))
    decoder.next_weights.assign_add([[100.0, 100.0]] * example.SIZE)
    decoder.state_weights.assign(tf.ones_like(decoder.state_weights))
    size = decoder.grow(0, *start_of(example))
    assert size.numpy() == example.NUM_ROWS


@pytest.mark.every_executor
def test_gradients_of_the_loss_are_those_of_plain_python(example):
    decoder = example.Decoder()

    def loss_and_gradients():
        with tf.GradientTape() as tape:
            loss = decoder.loss(0, *start_of(example))
        return loss, *tape.gradient(loss, decoder.trainable_variables)

    with run_as_plain_python():
        expected = loss_and_gradients()
    for found, plain in zip(loss_and_gradients(), expected, strict=True):
        np.testing.assert_allclose(found, plain, atol=1e-4)


@pytest.mark.slow
@pytest.mark.every_executor
def test_it_learns_to_grow_the_given_tree(example):
    decoder = example.Decoder()
    losses = list(itertools.islice(example.train(decoder), 40))
    assert losses[-1] < losses[0] / 10
    assert example.grown(decoder) == "S(N(d a n) V(v N(n)) p)"


def test_they_run_where_the_table_says(example, executor_in_table):
    decoder, start = example.Decoder(), start_of(example)
    for method in (decoder.loss, decoder.grow):
        assert rtf.explain(method.subgraph_for(0, *start)).executor == executor_in_table
