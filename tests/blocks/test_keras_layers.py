"""Keras's layers in a body: block programs run all of them, forward and backward."""

import numpy as np
import pytest
import tensorflow as tf
from keras import layers

import recursive_tf as rtf
from tests.blocks.compared import assert_equal

WIDTH = 8
TABLE = np.random.default_rng(0).normal(size=[20, WIDTH]).astype(np.float32)


def of_matrix(layer, x):
    """Applies a layer to two positions of four features."""
    return tf.reshape(layer(tf.reshape(x, [1, 2, 4]))[0], [-1])


def of_state(count):
    """Returns what applies a cell of a recurrent network."""
    return lambda cell, x: cell(x[None], [0.5 * x[None]] * count)[0][0]


def of_row(layer, x):
    return layer(x[None])[0]


LAYERS = {
    "Dense": (lambda: layers.Dense(WIDTH, "gelu"), of_row),
    "Dense of positions": (lambda: layers.Dense(4, "tanh"), of_matrix),
    "EinsumDense": (
        lambda: layers.EinsumDense("ab,bc->ac", WIDTH, bias_axes="c"),
        of_row,
    ),
    "LayerNormalization": (layers.LayerNormalization, of_row),
    "LayerNormalization of positions": (layers.LayerNormalization, of_matrix),
    "RMSNormalization": (layers.RMSNormalization, of_row),
    "GroupNormalization": (lambda: layers.GroupNormalization(2), of_row),
    "UnitNormalization": (layers.UnitNormalization, of_row),
    "PReLU": (layers.PReLU, of_row),
    "GRUCell": (lambda: layers.GRUCell(WIDTH), of_state(1)),
    "LSTMCell": (lambda: layers.LSTMCell(WIDTH), of_state(2)),
    "SimpleRNNCell": (lambda: layers.SimpleRNNCell(WIDTH), of_state(1)),
    "BatchNormalization": (
        layers.BatchNormalization,
        lambda layer, x: layer(x[None], training=False)[0],
    ),
    "MultiHeadAttention": (
        lambda: layers.MultiHeadAttention(2, 2),
        lambda layer, x: of_matrix(lambda m: layer(m, m), x),
    ),
    "Attention": (
        layers.Attention,
        lambda layer, x: of_matrix(lambda m: layer([m, m]), x),
    ),
    "Permute": (lambda: layers.Permute((2, 1)), of_matrix),
}


def define_chain(apply, layer, table, blocks):
    """Returns a recursion that applies a layer as often as its argument says."""
    with rtf.SubGraph(
        "chain",
        output_signature=tf.TensorSpec([WIDTH]),
        executor="batched",
        options=rtf.Options(blocks=blocks),
    ) as chain:
        n = chain.input(tf.int32)
        chain.output(
            tf.cond(
                n < 1,
                lambda: tf.gather(table, n),
                lambda: 0.5 * apply(layer, chain(n - 1)) + tf.gather(table, n),
            )
        )
    return chain


def values_and_gradients(chain, variables):
    with tf.GradientTape() as tape:
        h = chain.map(tf.constant([3, 2, 4, 7, 5]))
        loss = tf.reduce_sum(tf.sin(h))
    gradients = tape.gradient(loss, variables)
    return h.numpy(), [tf.convert_to_tensor(g).numpy() for g in gradients]


@pytest.mark.parametrize(("make", "apply"), LAYERS.values(), ids=LAYERS)
def test_layers(make, apply):
    tf.keras.utils.set_random_seed(1)
    layer = make()
    apply(layer, tf.ones([WIDTH]))
    table = tf.Variable(TABLE)
    variables = [table, *(v.value for v in layer.trainable_variables)]
    for weight in variables[1:]:  # Zeros would hide mistakes.
        weight.assign_add(tf.random.stateless_normal(weight.shape, [1, 2], stddev=0.2))
    compiled = define_chain(apply, layer, table, "compiled")
    explanation = rtf.explain(compiled)
    h, gradients = values_and_gradients(compiled, variables)
    assert explanation.not_compiled == {}
    other = define_chain(apply, layer, table, "tensorflow")
    wanted_h, wanted = values_and_gradients(other, variables)
    # Keys of attention may be moved together: what their bias gets is rounding alone.
    kept = [i for i, gradient in enumerate(wanted) if np.abs(gradient).max() > 1e-5]
    assert len(kept) >= len(wanted) - 1
    assert_equal(
        (h, [gradients[i] for i in kept]), (wanted_h, [wanted[i] for i in kept])
    )
