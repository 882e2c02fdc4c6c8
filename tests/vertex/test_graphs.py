"""Graphs: lattices, sequences, several rounds, grids, and computed in the graph."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.close import assert_all_close
from tests.vertex import oracle
from tests.vertex.functions import PAIR, SIZE, Weights, n_ary, ragged, rows

pytestmark = pytest.mark.every_executor


def lattices():
    """Returns a batch of two lattices: positions 0 to 3, and words after them."""
    return rtf.data.Forest(
        tokens=[-1, 1, 2, 3, 30, 31, -1, 4],
        children=tf.ragged.constant(
            [[], [0], [1, 4], [2, 5, 4], [0], [1], [], [6]], dtype=tf.int32
        ),
        roots=[3, 7],
        sizes=[6, 2],
        features={"is_word": [0, 0, 0, 0, 1, 1, 0, 0]},
    ).validate(dag=True)


def test_a_lattice_is_one(executor):
    cell = rtf.layers.LatticeLSTMCell(SIZE)
    inputs = rtf.layers.LatticeInputs(
        tf.keras.layers.Embedding(10, SIZE), tf.keras.layers.Embedding(40, SIZE)
    )
    encoder = rtf.layers.TreeEncoder(
        cell, dag=True, return_nodes=True, executor=executor
    )
    forest = lattices()
    x = inputs(forest)
    expected = encoder(forest, x)

    state = tf.nest.map_structure(tf.type_spec_from_value, cell.leaf(x[0]))

    @rtf.vertex(state=state)
    def lattice_lstm(v):
        x = v.pull()

        def position_or_word():
            return cell(v.gather(), x)

        found = tf.cond(
            tf.equal(v.num_inputs, 0), lambda: cell.leaf(x), position_or_word
        )
        v.scatter(found)
        v.push(found[0])

    assert_all_close(lattice_lstm(forest, x), expected)


def lstm(weights):
    """Returns the function of an LSTM: the in-neighbor is the step before."""
    return n_ary(weights, 1)


def test_sequences_of_any_lengths_are_graphs_that_are_computed():
    words = tf.ragged.constant([[5, 1, 2], [], [4], [3, 0]], dtype=tf.int32)
    table, weights = rows(6), Weights(1)
    function = lstm(weights)
    decorated = rtf.vertex(state=PAIR)(function)

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
    def encode(words):
        every = tf.range(tf.size(words.values))
        starts = tf.cast(words.row_starts(), tf.int32)
        is_start = tf.reduce_any(every[:, tf.newaxis] == starts, 1)
        before = tf.where(is_start, -1, every - 1)
        h = decorated(before[:, tf.newaxis], tf.gather(table, words.values))
        return words.with_values(h)

    found = encode(words)
    assert found.row_lengths().numpy().tolist() == [3, 0, 1, 2]
    before = [[-1], [0], [1], [-1], [-1], [4]]
    expected = oracle.run(function, PAIR, before, tf.gather(table, words.values))
    assert_all_close(found.values, expected)


def test_messages_go_around_in_rounds():
    """A graph with cycles: vertex i of round r gathers from those of round r - 1."""
    around = ragged([[1, 2], [0], [0, 1, 3], [2]])
    size, rounds = 4, 3
    weights, x = Weights(1), rows(size)

    def function(v):
        (h,) = v.gather()
        mean = tf.math.divide_no_nan(
            tf.reduce_sum(h, 0), tf.cast(v.num_inputs, tf.float32)
        )
        y = tf.tanh(mean * weights.bias[:SIZE] + v.pull())
        v.scatter((y,))
        v.push(y)

    decorated = rtf.vertex(state=(tf.TensorSpec([SIZE]),))(function)

    @tf.function
    def run(around, x):
        later = [around + size * r for r in range(rounds - 1)]
        first = around[:, :0]
        graph = tf.concat([first, *later], 0)
        return decorated(graph, tf.tile(x, [rounds, 1]))[-size:]

    h = np.zeros([size, SIZE], np.float32)
    for r in range(rounds):
        there = [[]] * size if r == 0 else around.to_list()
        means = [h[n].mean(0) if n else np.zeros(SIZE) for n in there]
        h = np.tanh(np.array(means) * weights.bias[:SIZE] + x).astype(np.float32)
    assert_all_close(run(around, x), h)


def test_a_grid_has_two_in_neighbors():
    side = 12

    @rtf.vertex(state=tf.int64)
    def paths(v):
        edge = v.num_inputs < 2
        y = tf.where(edge, tf.constant(1, tf.int64), v.gather(0) + v.gather(1))
        v.scatter(y)
        v.push(y)

    @tf.function
    def run(side):
        i, j = tf.meshgrid(tf.range(side), tf.range(side), indexing="ij")
        here = tf.reshape(i * side + j, [-1])
        is_edge = tf.reshape(tf.minimum(i, j) < 1, [-1])
        pair = tf.stack([here - side, here - 1], 1)
        return paths(tf.where(is_edge[:, tf.newaxis], -1, pair))

    assert int(run(tf.constant(side))[-1]) == 705432


def test_both_directions_are_one_graph():
    """Forward and backward steps of a sequence, as vertices of one graph."""
    size, x = 4, rows(4)
    weights = Weights(1, 0), Weights(1, 1)
    functions = [lstm(each) for each in weights]

    def function(v):
        h, c = v.gather(0)
        parts = tf.concat([h, v.pull()["x"]], 0)

        def step(of):
            z = tf.linalg.matvec(of.matrix, parts, transpose_a=True) + of.bias
            i, o, u, f = tf.split(z, 4)
            new = tf.sigmoid(i) * tf.tanh(u) + tf.sigmoid(f) * c
            return tf.sigmoid(o) * tf.tanh(new), new

        state = tf.cond(
            v.pull()["backward"], lambda: step(weights[1]), lambda: step(weights[0])
        )
        v.scatter(state)
        v.push(state[0])

    graph = [[-1], [0], [1], [2], [5], [6], [7], [-1]]
    inputs = {"x": tf.tile(x, [2, 1]), "backward": [False] * size + [True] * size}
    inputs["backward"] = tf.constant(inputs["backward"])
    found = rtf.vertex(state=PAIR)(function)(graph, inputs)
    forward = oracle.run(functions[0], PAIR, graph[:size], x)
    backward = oracle.run(functions[1], PAIR, graph[:size], x[::-1])[::-1]
    assert_all_close(found, tf.concat([forward, backward], 0))
