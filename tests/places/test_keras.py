"""SubGraphs in Keras layers and models, and layers in bodies."""

from functools import partial

import numpy as np
import pytest
import tensorflow as tf

from tests.helpers.keras_models import (
    DEPTHS,
    Repeat,
    X,
    Y,
    assert_all_close,
    functional,
    subclassed,
    trained,
)
from tests.helpers.unrolled import assert_close, check_call, check_rows
from tests.language.features import feature

feature = partial(feature, "Keras")

pytestmark = pytest.mark.slow

# --- Models


@feature("a layer that calls a SubGraph in its `call`", gradients=True)
def test_a_layer():
    results = []
    for recursive in (True, False):
        tf.keras.utils.set_random_seed(1)
        layer, x = Repeat(recursive), tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer([DEPTHS, x])
        gradients = tape.gradient(y, [x, *layer.trainable_variables])
        results.append([y, *gradients, tf.function(layer)([DEPTHS, x])])
    assert_all_close(*results)


@pytest.mark.parametrize("eagerly", [False, True])
@feature(
    "functional models: `fit`, `predict`, `evaluate`, also with `run_eagerly=True`",
    gradients=True,
)
def test_a_functional_model(eagerly):
    both = (trained(functional(r), run_eagerly=eagerly) for r in (True, False))
    assert_all_close(*both)


@feature("subclassed models: `fit`, `predict`, `evaluate`", gradients=True)
def test_a_subclassed_model():
    assert_all_close(*(trained(subclassed(r)) for r in (True, False)))


@feature(
    "`Model.compile(jit_compile=True)`",
    raises=tf.errors.UnimplementedError,
    says="compiled by XLA, which has no recursion. Leave out jit_compile=True",
)
def test_a_compiled_model():
    trained(functional(True), jit_compile=True)


@feature(
    "the same, of a model with a layer that has `supports_jit = False`", gradients=True
)
def test_a_model_that_is_not_compiled():
    model = functional(True)
    model.layers[-2].supports_jit = False
    with pytest.warns(UserWarning, match="Proceeding with `jit_compile=False`"):
        found = trained(model, jit_compile=True)
    assert_all_close(found, trained(functional(False)))


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@feature("mixed precision, with `LossScaleOptimizer`", gradients=True)
def test_mixed_precision(policy):
    tf.keras.mixed_precision.set_global_policy(policy)
    try:
        both = [trained_by_hand(functional(recursive)) for recursive in (True, False)]
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")
    for found, expected in zip(*both, strict=True):
        np.testing.assert_allclose(found, expected, atol=2e-2)


def trained_by_hand(model):
    sgd = tf.keras.optimizers.SGD(0.1)
    optimizer = tf.keras.mixed_precision.LossScaleOptimizer(sgd)
    optimizer.build(model.trainable_variables)
    types = set()

    @tf.function
    def train():
        with tf.GradientTape() as tape:
            found = tf.cast(model([DEPTHS, X]), tf.float32)
            loss = tf.reduce_mean((found - Y) ** 2)
            scaled = optimizer.scale_loss(loss)
        gradients = tape.gradient(scaled, model.trainable_variables)
        types.update(g.dtype for g in gradients)
        optimizer.apply(gradients, model.trainable_variables)
        return loss

    losses = [train() for _ in range(5)]
    assert types == {tf.float32}
    assert losses[-1] < losses[0]
    return [losses, *model.get_weights()]


# --- Layers in bodies


def applied(layer):
    return lambda y, n: tf.sin(layer(y[tf.newaxis])[0]) * tf.cast(n, tf.float32)


LAYERS = {
    "Dense": lambda: tf.keras.layers.Dense(3, "relu"),
    "EinsumDense": lambda: tf.keras.layers.EinsumDense("ab,bc->ac", [3], bias_axes="c"),
    # What divides by nearly nothing is mostly rounding.
    "LayerNormalization": lambda: tf.keras.layers.LayerNormalization(epsilon=0.1),
    "UnitNormalization": tf.keras.layers.UnitNormalization,
}


@pytest.mark.parametrize("make", LAYERS.values(), ids=LAYERS)
@feature("`Dense`, `EinsumDense`, `LayerNormalization` in bodies", gradients=True)
def test_layers_in_bodies(make):
    tf.keras.utils.set_random_seed(1)
    layer = make()
    layer.build([None, 3])
    weights = [v.value for v in layer.trainable_variables]
    check_rows(applied(layer), X[:3], *weights)


CELLS = {
    "LSTMCell": (tf.keras.layers.LSTMCell, 2),
    "GRUCell": (tf.keras.layers.GRUCell, 1),
    "SimpleRNNCell": (tf.keras.layers.SimpleRNNCell, 1),
}


@pytest.mark.parametrize(("make", "count"), CELLS.values(), ids=CELLS)
@feature("`LSTMCell`, `GRUCell`, `SimpleRNNCell` in bodies", gradients=True)
def test_cells_in_bodies(make, count):
    tf.keras.utils.set_random_seed(1)
    cell = make(3)
    cell.build([None, 3])

    def step(y, n):
        inputs = tf.cast(n, tf.float32) * tf.ones([1, 3])
        return cell(inputs, [y[tf.newaxis]] * count)[0][0]

    check_rows(step, X[:3], *(v.value for v in cell.trainable_variables))


@feature("`Embedding` in bodies", gradients=True)
def test_embeddings_in_bodies():
    tf.keras.utils.set_random_seed(1)
    layer = tf.keras.layers.Embedding(5, 3)
    layer.build([None])
    step = lambda y, n: tf.sin(y) + layer(n + 1)  # noqa: E731
    check_rows(step, X[:3], *(v.value for v in layer.trainable_variables))


@feature("`Conv2D`, `MaxPooling2D` in bodies", gradients=True)
def test_convolutions_in_bodies():
    tf.keras.utils.set_random_seed(1)
    layer = tf.keras.layers.Conv2D(2, 3, padding="same")
    layer.build([None, 4, 4, 2])
    pool = tf.keras.layers.MaxPooling2D(3, 1, padding="same")

    def step(y, n):
        return pool(tf.tanh(layer(y))) * tf.cast(n, tf.float32)

    image = tf.reshape(tf.linspace(-1.0, 1.0, 32), [1, 4, 4, 2])
    weights = (v.value for v in layer.trainable_variables)
    check_call(step, image, *weights, order=1)


def test_the_loop_of_the_oracle_is_not_the_identity():
    x = tf.constant(X)
    layer = Repeat(recursive=False)
    found = layer([DEPTHS, x])
    assert_close(found[1], x[1])
    assert float(tf.reduce_max(tf.abs(found[0] - x[0]))) > 0.1
