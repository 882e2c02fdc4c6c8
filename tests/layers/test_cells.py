"""Each cell in both executors is the cell called node by node, and its equations."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers import equations
from tests.layers.cells import (
    FORESTS,
    KINDS,
    children_of,
    forest_of,
    inputs_of,
    node_by_node,
    output_of,
    random_weights,
)

pytestmark = pytest.mark.slow

every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
every_forest = pytest.mark.parametrize("name", FORESTS["any"])


def built_encoder(kind, executor="batched", **choices):
    encoder = rtf.layers.TreeEncoder(
        kind.make(dtype="float64"), executor=executor, dtype="float64", **choices
    )
    encoder.build((None,), (None, kind.x))
    random_weights(encoder)
    return encoder


def gradients(tape, loss, sources):
    found = tape.gradient(loss, sources)
    return [
        np.zeros(source.shape) if gradient is None else tf.convert_to_tensor(gradient)
        for source, gradient in zip(sources, found, strict=True)
    ]


def by_layer(encoder, forest, x):
    with tf.GradientTape() as tape:
        y = encoder(forest, x)
        loss = tf.reduce_sum(y * y)
    return [y, *gradients(tape, loss, [*encoder.trainable_variables, x])]


def by_hand(encoder, forest, x):
    with tf.GradientTape() as tape:
        outputs = tf.stack(list(map(output_of, node_by_node(encoder.cell, forest, x))))
        y = outputs if encoder.return_nodes else tf.gather(outputs, forest.roots)
        loss = tf.reduce_sum(y * y)
    return [y, *gradients(tape, loss, [*encoder.trainable_variables, x])]


def assert_all_close(found, expected, rtol=1e-9):
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-12)


@every_forest
@every_kind
def test_a_batch_of_trees_is_as_node_by_node(kind, name):
    forest = forest_of(kind, name)
    x = inputs_of(forest, kind.x)
    for executor in ("batched", "dataflow"):
        encoder = built_encoder(kind, executor)
        assert_all_close(by_layer(encoder, forest, x), by_hand(encoder, forest, x))


@every_kind
def test_every_node_is_as_node_by_node(kind):
    forest = forest_of(kind, "several")
    x = inputs_of(forest, kind.x)
    for executor in ("batched", "dataflow"):
        encoder = built_encoder(kind, executor, return_nodes=True)
        assert_all_close(by_layer(encoder, forest, x), by_hand(encoder, forest, x))


@every_kind
def test_one_tree_has_no_dimension_of_trees(kind):
    forest = forest_of(kind, "several")[2]
    x = inputs_of(forest, kind.x)
    encoder = built_encoder(kind)
    found = by_layer(encoder, forest, x)
    assert found[0].shape.rank == 1
    assert_all_close(found, by_hand(encoder, forest, x))


@every_kind
def test_no_trees_have_no_outputs_and_zero_gradients(kind):
    forest = forest_of(kind, "several")[0:0]
    x = inputs_of(forest, kind.x)
    y, *found = by_layer(built_encoder(kind), forest, x)
    assert y.shape[0] == 0
    assert not any(map(np.any, found))


@pytest.mark.parametrize("name", KINDS)
def test_the_equations_are_those_of_the_paper(name):
    kind = KINDS[name]
    forest = forest_of(kind, "several")
    x = inputs_of(forest, kind.x)
    encoder = built_encoder(kind, return_nodes=True)
    weights = {w.name: w.numpy() for w in encoder.cell.weights}
    equation = getattr(equations, name)(weights)
    states = {}
    for node, below in enumerate_bottom_up(children_of(forest)):
        states[node] = equation(x.numpy()[node], [states[child] for child in below])
    expected = [states[node][0] for node in range(len(states))]
    np.testing.assert_allclose(encoder(forest, x), expected, rtol=1e-9, atol=1e-12)


def enumerate_bottom_up(links):
    done = set()
    while len(done) < len(links):
        for node, below in enumerate(links):
            if node not in done and done.issuperset(below):
                done.add(node)
                yield node, below


@every_kind
def test_a_config_makes_the_same_cell(kind):
    cell = kind.make(
        kernel_initializer="he_normal",
        bias_initializer="ones",
        dropout=0.25,
        recurrent_dropout=0.5,
        seed=7,
        name="my_cell",
        dtype="mixed_float16",
    )
    config = cell.get_config()
    again = type(cell).from_config(config)
    assert again.get_config() == config
    assert again.recurrent_dropout.rate == 0.5
    assert again.dtype_policy.name == "mixed_float16"


@every_kind
def test_the_batched_program_has_at_most_one_product_for_each_weight(kind):
    forest = forest_of(kind, "several")
    x = inputs_of(forest, kind.x)
    encoder = built_encoder(kind)

    @tf.function
    def run():
        return encoder(forest, x)

    run()
    explanation = rtf.explain(run)
    products = str(explanation).count("MatMul")
    assert explanation.executor == "batched"
    assert products <= len(encoder.cell.weights)


def test_a_seeded_initializer_gives_two_cells_the_same_weights():
    cell = rtf.layers.RNTNCell(
        2, kernel_initializer=keras.initializers.GlorotUniform(seed=1)
    )
    cell.build((2,))
    other = rtf.layers.RNTNCell(
        2, kernel_initializer=keras.initializers.GlorotUniform(seed=1)
    )
    other.build((2,))
    assert_all_close(cell.get_weights(), other.get_weights(), rtol=0)


@every_kind
def test_x_of_the_wrong_size_is_refused_with_the_cure(kind):
    with pytest.raises(ValueError, match=r"vector of known length|elements at a leaf"):
        kind.make().build((2, 2))
