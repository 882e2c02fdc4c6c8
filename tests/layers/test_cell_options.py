"""What Keras's cells take, ours take: activations, biases, initializers, and so on."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers import equations
from tests.layers.cells import (
    KINDS,
    UNITS,
    children_of,
    forest_of,
    inputs_of,
    node_by_node,
    output_of,
    random_weights,
)

pytestmark = pytest.mark.slow

every_kind = pytest.mark.parametrize("name", KINDS)
UNGATED = ("TreeRNN", "RNTN", "MVRNN")


def choices_of(name):
    """Returns an activation and a gate that are not the default ones, and no bias."""
    choices = {"activation": "softsign", "use_bias": False, "dtype": "float64"}
    return choices if name in UNGATED else choices | {"recurrent_activation": "relu6"}


def softsign(x):
    return x / (1 + np.abs(x))


def relu6(x):
    return np.clip(x, 0, 6)


def encoder_of(name, executor="batched", **choices):
    kind = KINDS[name]
    encoder = rtf.layers.TreeEncoder(
        kind.make(**choices), executor=executor, return_nodes=True, dtype="float64"
    )
    encoder.build((None,), (None, kind.x))
    random_weights(encoder)
    return encoder


def states_by_equations(name, encoder, forest, x):
    kind = KINDS[name]
    with_biases = kind.make(dtype="float64")
    with_biases.build((kind.x,))
    weights = {w.name: np.zeros(w.shape) for w in with_biases.weights}
    weights |= {w.name: w.numpy() for w in encoder.cell.weights}
    own = {"activation": softsign, "gating": relu6}
    equation = getattr(equations, name)(weights, **own)
    links, states = children_of(forest), {}

    def visit(node):
        below = [visit(child) for child in links[node]]
        states[node] = equation(x.numpy()[node], below)
        return states[node]

    for root in forest.roots.numpy():
        visit(int(root))
    return [states[node][0] for node in range(len(links))]


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
@every_kind
def test_other_activations_without_biases_are_the_equations(name, executor):
    forest = forest_of(KINDS[name], "several")
    x = inputs_of(forest, KINDS[name].x)
    encoder = encoder_of(name, executor, **choices_of(name))
    assert not [w.name for w in encoder.weights if "bias" in w.name]
    expected = states_by_equations(name, encoder, forest, x)
    np.testing.assert_allclose(encoder(forest, x), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
@every_kind
def test_gradients_with_other_activations_are_those_node_by_node(name, executor):
    forest = forest_of(KINDS[name], "several")
    x = inputs_of(forest, KINDS[name].x)
    encoder = encoder_of(name, executor, **choices_of(name))
    sources = [x, *encoder.trainable_variables]
    found = []
    for run in (
        lambda: encoder(forest, x),
        lambda: tf.stack([output_of(s) for s in node_by_node(encoder.cell, forest, x)]),
    ):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(run() ** 2)
        found.append(tape.gradient(loss, sources))
    for one, other in zip(*found, strict=True):
        one, other = map(tf.convert_to_tensor, (one, other))
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("inputs_at", ["leaves", "nodes"])
@pytest.mark.parametrize("make", ["NaryTreeLSTMCell", "ChildSumTreeLSTMCell"])
def test_a_node_without_x_and_biases_has_gates_of_its_children_alone(make, inputs_at):
    cell = getattr(rtf.layers, make)(UNITS, use_bias=False, inputs_at=inputs_at)
    forest = rtf.data.from_nested([[1, 2], 3])
    x = tf.random.stateless_normal([int(forest.num_nodes), 3], [1, 2])
    found = [
        rtf.layers.TreeEncoder(cell, executor=executor)(forest, x)
        for executor in ("batched", "dataflow")
    ]
    np.testing.assert_allclose(*found, rtol=1e-5, atol=1e-6)


@every_kind
def test_regularizers_are_of_the_weights_that_they_name(name):
    scales = {"kernel": 1.0, "recurrent": 10.0, "bias": 100.0}
    encoder = encoder_of(
        name,
        **{
            f"{part}_regularizer": keras.regularizers.L1(s)
            for part, s in scales.items()
        },
    )
    expected = sum(
        scales[part_of(weight.name)] * np.abs(weight.numpy()).sum()
        for weight in encoder.cell.weights
    )
    np.testing.assert_allclose(sum(encoder.losses), expected, rtol=1e-5)


@every_kind
def test_constraints_and_initializers_are_of_the_weights_that_they_name(name):
    parts = {"kernel": 1.0, "recurrent": 2.0, "bias": 3.0}
    kind = KINDS[name]
    cell = kind.make(
        **{
            f"{part}_initializer": keras.initializers.Constant(v)
            for part, v in parts.items()
        },
        **{
            f"{part}_constraint": keras.constraints.MaxNorm(v)
            for part, v in parts.items()
        },
    )
    cell.build((kind.x,))
    for weight in cell.weights:
        value = parts[part_of(weight.name)]
        assert np.all(weight.numpy() == value), weight.name
        assert weight.constraint.max_value == value


def part_of(name):
    if "bias" in name:
        return "bias"
    return "kernel" if name in ("leaf_kernel", "input_kernel") else "recurrent"


def test_recurrent_matrices_begin_as_the_others_unless_it_is_said():
    cell = rtf.layers.TreeLSTMCell(UNITS, kernel_initializer="ones")
    cell.build((3,))
    assert np.all(cell.recurrent_kernel.numpy() == 1)


@every_kind
def test_a_config_makes_the_same_cell_with_all_options(name):
    options = {
        f"{part}_{kind}": value
        for part in ("kernel", "recurrent", "bias")
        for kind, value in (
            ("initializer", "ones"),
            ("regularizer", "l2"),
            ("constraint", "non_neg"),
        )
    }
    cell = KINDS[name].make(**choices_of(name), **options)
    again = type(cell).from_config(cell.get_config())
    assert again.get_config() == cell.get_config()
    assert again.activation is keras.activations.softsign
    assert not again.use_bias
    for option in options:
        assert type(getattr(again, option)) is type(getattr(cell, option))
        assert getattr(again, option) is not None


@every_kind
def test_a_file_has_all_options(name, tmp_path):
    kind = KINDS[name]
    cell = kind.make(kernel_regularizer="l2", **choices_of(name))
    forest = forest_of(kind, "several")
    x = inputs_of(forest, kind.x)
    trees, rows = rtf.layers.ForestInput(), keras.Input((kind.x,), dtype="float64")
    encoder = rtf.layers.TreeEncoder(cell, dtype="float64")
    model = keras.Model([trees, rows], encoder(trees, rows))
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    found = again([forest, x])
    np.testing.assert_allclose(found, model([forest, x]), rtol=1e-12)
    assert again.layers[-1].cell.get_config() == cell.get_config()


@pytest.mark.parametrize("name", UNGATED)
def test_a_cell_without_gates_has_no_activation_of_them(name):
    with pytest.raises(ValueError, match="recurrent_activation"):
        KINDS[name].make(recurrent_activation="relu")


@pytest.mark.parametrize("make", ["TreeLSTMCell", "ChildSumTreeLSTMCell"])
def test_options_are_said_by_name(make):
    with pytest.raises(TypeError, match="positional"):
        getattr(rtf.layers, make)(UNITS, "relu")


def test_a_constraint_holds_after_a_step_of_training():
    trees = rtf.data.from_nested([[1, [2, 3]], [4, 5]])
    cell = rtf.layers.TreeLSTMCell(
        UNITS,
        recurrent_constraint=keras.constraints.MaxNorm(0.1),
        recurrent_regularizer="l2",
    )
    words = keras.layers.Embedding(10, 3)
    model = keras.Sequential(
        [
            rtf.layers.ForestInput(),
            rtf.layers.TreeEncoder(cell, words),
            keras.layers.Dense(1),
        ]
    )
    model.compile("sgd", "mse")
    batches = tf.data.Dataset.from_tensor_slices((trees, [0.0, 1.0])).batch(2)
    model.fit(batches, verbose=0, shuffle=False)
    norms = np.linalg.norm(cell.recurrent_kernel.numpy(), axis=0)
    assert np.all(norms < 0.1 + 1e-6)
    assert np.any(np.linalg.norm(cell.leaf_kernel.numpy(), axis=0) > 0.1)
