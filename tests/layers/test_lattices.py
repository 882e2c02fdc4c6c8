"""Cells of lattices are, in both executors, a plain loop over positions."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of
from tests.layers.cells import random_weights

pytestmark = pytest.mark.slow

UNITS = 4
SIZE = 3
# Characters, and words as (where it begins, where it ends, which).
LATTICES = {
    "no words": ([5, 6, 7], []),
    "one character": ([5], []),
    "one word": ([5, 6, 7], [(0, 2, 3)]),
    "words that end together": ([1, 2, 3, 4], [(0, 3, 2), (1, 3, 4), (2, 4, 1)]),
    "all words": (
        [1, 2, 3, 4, 5],
        [(b, e, b + e) for b in range(5) for e in range(b + 2, 6)],
    ),
}


def nodes_of(characters, words):
    """Returns tokens, children and marks: a position after each character, words."""
    count = len(characters) + 1
    tokens = [-1, *characters, *(word for _, _, word in words)]
    children = [[position - 1] if position else [] for position in range(count)]
    for number, (begin, end, _) in enumerate(words):
        children[end].append(count + number)
        children.append([begin])
    return tokens, children, [0] * count + [1] * len(words)


def lattices(names):
    """Returns a batch of lattices."""
    forests = []
    for name in names:
        tokens, children, marks = nodes_of(*LATTICES[name])
        forests.append(
            rtf.data.Forest(
                tokens=tokens,
                children=children,
                roots=[len(LATTICES[name][0])],
                sizes=[len(tokens)],
                features={"is_word": marks},
            ).validate(dag=True)
        )
    return rtf.data.concat(forests)


def model_of(executor="batched", make=rtf.layers.LatticeLSTMCell, **choices):
    inputs = rtf.layers.LatticeInputs(
        keras.layers.Embedding(10, SIZE, dtype="float64"),
        keras.layers.Embedding(20, SIZE, dtype="float64"),
        dtype="float64",
    )
    cell = make(UNITS, dtype="float64")
    encoder = rtf.layers.TreeEncoder(
        cell, executor=executor, dag=True, dtype="float64", **choices
    )
    forest = rtf.layers.ForestInput()
    model = keras.Model(forest, encoder(forest, inputs(forest)))
    random_weights(model)
    return model


def lstm_by_hand(weights, characters, words, tanh=tf.tanh, sigmoid=tf.sigmoid):
    """Returns h of the last position, one position after the other."""
    matvec = lambda x, w: tf.linalg.matvec(w, x, transpose_a=True)  # noqa: E731
    gates = lambda name, *parts: tf.split(  # noqa: E731
        matvec(tf.concat(parts, 0), weights[f"{name}_kernel"])
        + weights[f"{name}_bias"],
        3,
    )
    states = [(tf.zeros([UNITS], tf.float64),) * 2]
    for end, character in enumerate(characters, start=1):
        x = weights["characters"][character]
        h, c = states[-1]
        i, o, g = gates("position", x, h)
        i, g = sigmoid(i), tanh(g)
        scores, values = [i], [g]
        for begin, stop, word in words:
            if stop != end:
                continue
            h_b, c_b = states[begin]
            i_w, f_w, g_w = gates("word", weights["words"][word], h_b)
            c_w = sigmoid(f_w) * c_b + sigmoid(i_w) * tanh(g_w)
            of_x = matvec(x, weights["link_x_kernel"]) + weights["link_bias"]
            scores.append(sigmoid(of_x + matvec(c_w, weights["link_c_kernel"])))
            values.append(c_w)
        if len(values) == 1:
            c = (1 - i) * c + i * g
        else:
            shares = tf.nn.softmax(tf.stack(scores), axis=0)
            c = tf.reduce_sum(shares * tf.stack(values), 0)
        states.append((sigmoid(o) * tanh(c), c))
    return states[-1][0]


def gru_by_hand(weights, characters, words, tanh=tf.tanh, sigmoid=tf.sigmoid):
    """Returns h of the last position, one position after the other."""

    def affine(name, *parts):
        kernel, bias = weights[f"{name}_kernel"], weights[f"{name}_bias"]
        return tf.linalg.matvec(kernel, tf.concat(parts, 0), transpose_a=True) + bias

    def gate_and_candidate(name, x, h):
        reset, update = tf.split(sigmoid(affine(name, x, h)), 2)
        return update, tanh(affine(f"{name}_candidate", x, reset * h))

    states = [tf.zeros([UNITS], tf.float64)]
    for end, character in enumerate(characters, start=1):
        x, h = weights["characters"][character], states[-1]
        z, g = gate_and_candidate("position", x, h)
        scores, values = [z], [g]
        for begin, stop, word in words:
            if stop != end:
                continue
            h_b = states[begin]
            z_w, g_w = gate_and_candidate("word", weights["words"][word], h_b)
            h_w = (1 - z_w) * h_b + z_w * g_w
            of_x = tf.linalg.matvec(weights["link_x_kernel"], x, transpose_a=True)
            of_h = tf.linalg.matvec(weights["link_c_kernel"], h_w, transpose_a=True)
            scores.append(sigmoid(of_x + of_h + weights["link_bias"]))
            values.append(h_w)
        shares = tf.nn.softmax(tf.stack(scores), axis=0)
        mixed = tf.reduce_sum(shares * tf.stack(values), 0)
        states.append(mixed if len(values) > 1 else (1 - z) * h + z * g)
    return states[-1]


CELLS = {
    "LSTM": (rtf.layers.LatticeLSTMCell, lstm_by_hand),
    "GRU": (rtf.layers.LatticeGRUCell, gru_by_hand),
}


OPTIONS = {"activation": "softsign", "recurrent_activation": "softplus"}


def variables_of(model):
    """Returns the weights by the names of the equations."""
    inputs, encoder = model.layers[1:]
    weights = {w.name: w for w in encoder.cell.weights}
    weights["characters"] = inputs.characters.embeddings
    weights["words"] = inputs.words.embeddings
    return {name: weights[name].value for name in sorted(weights)}


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
@pytest.mark.parametrize("names", [[name] for name in LATTICES] + [list(LATTICES)])
@pytest.mark.parametrize("cell", CELLS)
def test_a_lattice_is_as_a_loop_over_positions(cell, names, executor):
    make, by_hand = CELLS[cell]
    model = model_of(executor, make)
    weights = variables_of(model)
    results = []
    for run in (
        lambda: model(lattices(names)),
        lambda: tf.stack([by_hand(weights, *LATTICES[name]) for name in names]),
    ):
        with tf.GradientTape() as tape:
            h = run()
            loss = tf.reduce_sum(h * h)
        sources = list(weights.values())
        gradients = tape.gradient(loss, sources)
        results.append(
            [h]
            + [
                np.zeros(s.shape) if g is None else tf.convert_to_tensor(g)
                for s, g in zip(sources, gradients, strict=True)
            ]
        )
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
@pytest.mark.parametrize("cell", CELLS)
def test_other_activations_are_those_of_the_loop(cell, executor):
    make, by_hand = CELLS[cell]
    model = model_of(executor, lambda *a, **c: make(*a, **c, **OPTIONS))
    weights = variables_of(model)
    expected = [
        by_hand(weights, *LATTICES[name], tf.nn.softsign, tf.nn.softplus)
        for name in LATTICES
    ]
    np.testing.assert_allclose(model(lattices(LATTICES)), expected, rtol=1e-8)


@pytest.mark.parametrize("cell", CELLS)
def test_a_lattice_without_biases_is_one_whose_biases_are_zeros(cell):
    make, _ = CELLS[cell]
    plain = model_of(make=lambda *a, **c: make(*a, **c, use_bias=False))
    biased = model_of(make=make)
    weights = variables_of(plain)
    for name, variable in variables_of(biased).items():
        variable.assign(weights.get(name, tf.zeros_like(variable)))
    assert len(weights) < len(variables_of(biased))
    forest = lattices(LATTICES)
    np.testing.assert_allclose(plain(forest), biased(forest), rtol=1e-9)


def test_every_position_has_an_output_and_words_have_zeros():
    model, whole = model_of(), lattices(["all words"])
    every = model_of(return_nodes=True)(whole).numpy()
    np.testing.assert_allclose(every[5], model(whole)[0], rtol=1e-9)
    assert not np.any(every[6:])
    assert np.all(np.any(every[1:6], axis=1))


@pytest.mark.parametrize("cell", CELLS)
def test_a_model_of_lattices_is_saved_and_loaded(cell, tmp_path):
    model = model_of(make=CELLS[cell][0])
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    forest = lattices(LATTICES)
    np.testing.assert_allclose(loaded(forest), model(forest), rtol=1e-9)


def test_a_config_makes_the_same_cell():
    config = rtf.layers.LatticeLSTMCell(UNITS, dropout=0.5).get_config()
    assert rtf.layers.LatticeLSTMCell.from_config(config).get_config() == config


@pytest.mark.traces_only
def test_a_forest_that_does_not_say_what_words_are_is_refused():
    layer = rtf.layers.LatticeInputs(
        keras.layers.Embedding(10, SIZE), keras.layers.Embedding(20, SIZE), name="both"
    )
    forest = rtf.data.from_nested([[1, 2]]).replace(features={"other": [0, 0, 0]})
    message = message_of(lambda: layer(forest), ValueError)
    assert "both takes lattices, forests with a feature 'is_word'" in message
    assert "got one with the features ['other']" in message
    assert "rtf.data.read_lattices" in message
