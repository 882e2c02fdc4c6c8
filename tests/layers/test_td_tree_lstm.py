"""TD-TreeLSTM scores given dependency trees and generates its own, top-down."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers import equations
from tests.layers.cells import random_weights

pytestmark = pytest.mark.slow

UNITS = 4
VOCABULARY = 7
EDGES = rtf.layers.EDGES

# Each word of a tree: which it is, and where each type of edge goes, -1 if nowhere.
WORDS = [3, 1, 4, 2, 5, 6]
LINKS = {
    "left": [1, -1, -1, -1, -1, -1],
    "right": [3, -1, 5, -1, -1, -1],
    "next_left": [-1, 2, -1, -1, -1, -1],
    "next_right": [-1, -1, -1, 4, -1, -1],
}


def cell_of(**choices):
    cell = rtf.layers.TDTreeLSTMCell(UNITS, VOCABULARY, dtype="float64", **choices)
    random_weights(cell)
    return cell


def word_score(cell, state, word):
    return tf.nn.log_softmax(cell.word_logits(state))[word]


def edge_score(cell, state, word, exists):
    labels = tf.cast(tf.stack(exists), tf.float64)
    logits = cell.edge_logits(state, word)
    return -tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits))


def state_specs():
    return rtf.layers.LSTMState(*[tf.TensorSpec([UNITS], tf.float64)] * 2)


# --- A given tree


def score_by_recursion(cell, executor):
    """Returns the log-likelihood of the tree: of all words and all decisions."""
    words = tf.constant(WORDS)
    links = {edge: tf.constant(to) for edge, to in LINKS.items()}
    score = rtf.SubGraph(
        "score", executor=executor, output_signature=tf.TensorSpec([], tf.float64)
    )
    with score:
        node = score.input(tf.int32)
        state = rtf.layers.LSTMState(*map(score.input, state_specs()))
        word = tf.gather(words, node)
        to = {edge: tf.gather(links[edge], node) for edge in EDGES}
        total = edge_score(cell, state, word, [to[edge] >= 0 for edge in EDGES])
        total += tf.gather(tf.nn.log_softmax(cell.word_logits(state)), word)
        for edge in EDGES:

            def below(edge=edge):
                return score(to[edge], *cell(state, word, edge=edge))

            total += tf.cond(to[edge] < 0, lambda: tf.constant(0.0, tf.float64), below)
        score.output(total)
    return score(0, *cell.start())


def score_by_hand(cell):
    def visit(node, state):
        word = tf.constant(WORDS[node])
        exists = [LINKS[edge][node] >= 0 for edge in EDGES]
        total = word_score(cell, state, word) + edge_score(cell, state, word, exists)
        for edge in EDGES:
            if LINKS[edge][node] >= 0:
                total += visit(LINKS[edge][node], cell(state, word, edge=edge))
        return total

    return visit(0, cell.start())


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
def test_the_likelihood_of_a_tree_is_as_word_by_word(executor):
    cell = cell_of()
    results = []
    for run in (
        lambda: score_by_recursion(cell, executor),
        lambda: score_by_hand(cell),
    ):
        with tf.GradientTape() as tape:
            total = run()
        gradients = tape.gradient(total, cell.trainable_variables)
        results.append([total, *map(tf.convert_to_tensor, gradients)])
    assert len(results[0]) == 1 + 8 + 6
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


def test_a_step_is_the_equations():
    cell = cell_of()
    weights = {w.name: w.numpy() for w in cell.weights}
    h, c = np.linspace(-1, 1, UNITS), np.linspace(2, -1, UNITS)
    state = rtf.layers.LSTMState(tf.constant(h), tf.constant(c))
    for edge in EDGES:
        step = equations.LSTM(weights[f"{edge}_kernel"], weights[f"{edge}_bias"])
        expected = step([weights["embeddings"][2], h], c)
        found = cell(state, tf.constant(2), edge=edge)
        np.testing.assert_allclose([found.h, found.c], expected, rtol=1e-12)


def test_a_step_with_other_activations_and_no_bias_is_the_equations():
    cell = cell_of(activation="softsign", recurrent_activation="relu6", use_bias=False)
    weights = {w.name: w.numpy() for w in cell.weights}
    h, c = np.linspace(-1, 1, UNITS), np.linspace(2, -1, UNITS)
    state = rtf.layers.LSTMState(tf.constant(h), tf.constant(c))
    for edge in EDGES:
        step = equations.LSTM(
            weights[f"{edge}_kernel"],
            np.zeros(4 * UNITS),
            activation=lambda x: x / (1 + np.abs(x)),
            gating=lambda x: np.clip(x, 0, 6),
        )
        expected = step([weights["embeddings"][2], h], c)
        found = cell(state, tf.constant(2), edge=edge)
        np.testing.assert_allclose([found.h, found.c], expected, rtol=1e-12)


def test_a_cell_that_hands_states_down_is_no_cell_of_an_encoder():
    assert not issubclass(rtf.layers.TDTreeLSTMCell, rtf.layers.TreeCell)
    with pytest.raises(TypeError, match=r"leaf\(x\)"):
        rtf.layers.TreeEncoder(cell_of())


# --- A tree that the cell decides over


DEPTH = 5


def generate_by_recursion(cell, executor):
    """Returns how many words there are, and the sum of the likeliest words' scores."""
    result = (tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.float64))
    generate = rtf.SubGraph("generate", executor=executor, output_signature=result)
    with generate:
        depth = generate.input(tf.int32)
        state = rtf.layers.LSTMState(*map(generate.input, state_specs()))
        logits = cell.word_logits(state)
        word = tf.argmax(logits, output_type=tf.int32)
        count, total = tf.constant(1), tf.reduce_max(tf.nn.log_softmax(logits))
        decided = tf.logical_and(cell.edge_logits(state, word) > 0, depth < DEPTH)
        for number, edge in enumerate(EDGES):

            def below(edge=edge):
                return generate(depth + 1, *cell(state, word, edge=edge))

            def none():
                return tf.constant(0), tf.constant(0.0, tf.float64)

            more, score = tf.cond(decided[number], below, none)
            count, total = count + more, total + score
        generate.output(count, total)
    return generate(0, *cell.start())


def generate_by_hand(cell):
    def visit(depth, state):
        logits = cell.word_logits(state)
        word = tf.argmax(logits, output_type=tf.int32)
        count, total = 1, tf.reduce_max(tf.nn.log_softmax(logits))
        decided = cell.edge_logits(state, word) > 0
        for number, edge in enumerate(EDGES):
            if depth < DEPTH and decided[number]:
                more, score = visit(depth + 1, cell(state, word, edge=edge))
                count, total = count + more, total + score
        return count, total

    return visit(0, cell.start())


@pytest.mark.large
def test_a_cell_generates_the_tree_that_it_decides_over():
    counts = []
    for seed in range(4):
        cell = cell_of()
        random = np.random.default_rng(seed)
        cell.set_weights([random.normal(size=w.shape) for w in cell.get_weights()])
        count, total = generate_by_hand(cell)
        counts.append(count)
        for executor in ("batched", "dataflow"):
            found = generate_by_recursion(cell, executor)
            assert int(found[0]) == count
            np.testing.assert_allclose(found[1], total, rtol=1e-9)
    assert len(set(counts)) > 1  # The trees are not all alike.


# --- Keras


def test_a_config_makes_the_same_cell():
    cell = cell_of(dropout=0.25)
    again = type(cell).from_config(cell.get_config())
    assert again.get_config() == cell.get_config()
    assert [w.shape for w in again.weights] == [w.shape for w in cell.weights]


@keras.saving.register_keras_serializable("tests.layers")
class Scorer(keras.layers.Layer):
    """A layer with a cell, of which nothing else makes the variables."""

    def __init__(self, cell=None, **choices):
        super().__init__(**choices)
        self.cell = cell or rtf.layers.TDTreeLSTMCell(UNITS, VOCABULARY)

    def call(self, words):
        state = self.cell.start()
        for edge in EDGES:
            state = self.cell(state, words[0, 0], edge=edge)
        return tf.reduce_sum(self.cell.word_logits(state)) + 0 * tf.cast(
            words, tf.float32
        )

    def compute_output_shape(self, shape):
        return shape


def test_a_keras_file_has_its_weights(tmp_path):
    words = keras.Input([1], dtype="int32")
    model = keras.Model(words, Scorer()(words))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    word = tf.constant([[3]])
    np.testing.assert_allclose(loaded(word), model(word), rtol=1e-6)
