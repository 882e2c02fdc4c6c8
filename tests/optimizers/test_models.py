"""Optimizers of touched rows in `fit`, in files, and in replicas."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from recursive_tf.optimizers import LazyAdam, SparseAdagrad
from tests.helpers.programs import run_code

VOCABULARY = 50
each = pytest.mark.parametrize("ours", [SparseAdagrad, LazyAdam])
WORDS = np.random.default_rng(0).integers(0, 20, size=[64, 7])
LABELS = (WORDS < 5).any(axis=1).astype(np.float32)


def new_model(optimizer):
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.layers.Embedding(VOCABULARY, 4),
            keras.layers.GlobalAveragePooling1D(),
            keras.layers.Dense(1),
        ]
    )
    model.compile(optimizer, keras.losses.BinaryCrossentropy(from_logits=True))
    return model


def table_of(model):
    return model.layers[0].embeddings.numpy()


@each
def test_fit_learns_and_leaves_other_words(ours):
    model = new_model(ours(0.1))
    model.build([None, 7])
    before = table_of(model)
    losses = model.fit(WORDS, LABELS, epochs=20, verbose=0).history["loss"]
    assert losses[-1] < 0.8 * losses[0]
    np.testing.assert_array_equal(table_of(model)[20:], before[20:])
    assert not np.any(np.all(table_of(model)[:20] == before[:20], axis=1))


@each
@pytest.mark.parametrize("options", [{}, {"global_clipnorm": 0.1}], ids=str)
def test_fit_of_an_embedding_alone_leaves_other_words(ours, options):
    model = new_model(ours(0.1, **options))
    model.build([None, 7])
    model.layers[-1].trainable = False
    before = table_of(model)
    losses = model.fit(WORDS, LABELS, epochs=20, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    np.testing.assert_array_equal(table_of(model)[20:], before[20:])
    assert not np.any(np.all(table_of(model)[:20] == before[:20], axis=1))


@each
def test_training_goes_on_after_loading(ours, tmp_path):
    model = new_model(ours(0.1, rate_factors={"embeddings": 0.5}))
    model.fit(WORDS, LABELS, verbose=0, shuffle=False)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    for each_model in (model, loaded):
        each_model.fit(WORDS, LABELS, verbose=0, shuffle=False)
    np.testing.assert_allclose(table_of(loaded), table_of(model), rtol=1e-6)


@each
def test_loss_scaling(ours):
    scaled = new_model(keras.optimizers.LossScaleOptimizer(ours(0.1)))
    plain = new_model(ours(0.1))
    for model in (scaled, plain):
        model.fit(WORDS, LABELS, verbose=0, shuffle=False)
    np.testing.assert_allclose(table_of(scaled), table_of(plain), rtol=1e-4, atol=1e-6)


_REPLICAS = """
import keras, numpy as np, tensorflow as tf
from recursive_tf import optimizers

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
words = np.random.default_rng(0).integers(0, 20, size=[64, 7])
labels = (words < 5).any(axis=1).astype(np.float32)

def table(strategy):
    with strategy.scope():
        keras.utils.set_random_seed(1)
        model = keras.Sequential([
            keras.layers.Embedding(50, 4), keras.layers.GlobalAveragePooling1D(),
            keras.layers.Dense(1)])
        loss = keras.losses.BinaryCrossentropy(from_logits=True)
        model.compile(getattr(optimizers, "NAME")(0.1, **OPTIONS), loss)
    learn = dict(batch_size=16, epochs=2, verbose=0, shuffle=False)
    model.fit(words, labels, **learn)
    before = model.layers[0].embeddings.numpy()
    model.fit(words % 5, labels, **learn)
    after = model.layers[0].embeddings.numpy()
    np.testing.assert_array_equal(after[5:], before[5:])
    return after

one = table(tf.distribute.get_strategy())
two = table(tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]))
np.testing.assert_allclose(two, one, rtol=1e-4, atol=1e-5)
print("same")
"""


@each
@pytest.mark.parametrize("options", [{}, {"global_clipnorm": 0.05}], ids=str)
def test_replicas_update_as_one_does_and_leave_other_rows(ours, options, tmp_path):
    """In a process of its own: devices are said before TensorFlow starts."""
    script = _REPLICAS.replace("NAME", ours.__name__).replace("OPTIONS", repr(options))
    assert run_code(script, tmp_path).splitlines()[-1] == "same"


def test_a_gradient_of_none_is_left_out():
    used, unused = keras.Variable([1.0]), keras.Variable([2.0])
    optimizer = SparseAdagrad(0.1)
    with pytest.warns(UserWarning, match="Gradients do not exist"):
        optimizer.apply([tf.constant([1.0]), None], [used, unused])
    assert used.numpy() < 1.0
    assert unused.numpy() == 2.0
