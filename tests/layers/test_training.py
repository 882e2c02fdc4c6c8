"""Keras trains, evaluates and saves models with a TreeEncoder; other processes load."""

import os
import pathlib
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

pytestmark = pytest.mark.slow

ROOT = pathlib.Path(__file__).parents[2]


def examples():
    """Returns trees, and whether the sum of a tree's words is odd."""
    random = np.random.default_rng(0)

    def tree(size):
        if size == 1:
            return int(random.integers(1, 5))
        left = int(random.integers(1, size))
        return [tree(left), tree(size - left)]

    nested = [tree(int(random.integers(1, 8))) for _ in range(40)]
    labels = np.array([total(one) % 2 for one in nested], np.int32)
    return rtf.data.from_nested(nested, binary=True), labels


def total(tree):
    return tree if isinstance(tree, int) else sum(map(total, tree))


def dataset(batch_size=8):
    forest, labels = examples()
    return tf.data.Dataset.from_tensor_slices((forest, labels)).batch(batch_size)


def functional(cell=None, **choices):
    keras.utils.set_random_seed(0)
    forest = rtf.layers.ForestInput()
    encoder = rtf.layers.TreeEncoder(
        cell or rtf.layers.TreeLSTMCell(12), keras.layers.Embedding(6, 8), **choices
    )
    return keras.Model(forest, keras.layers.Dense(2)(encoder(forest)))


def compiled(model, **choices):
    choices = {"optimizer": keras.optimizers.Adam(0.03), **choices}
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(loss=loss, metrics=["accuracy"], **choices)
    return model


@pytest.fixture(scope="module")
def trained():
    model = compiled(functional(rtf.layers.TreeLSTMCell(12, dropout=0.05)))
    history = model.fit(dataset(), epochs=25, verbose=0, shuffle=False)
    return model, history.history


def test_fit_learns(trained):
    model, history = trained
    assert history["loss"][0] > 0.6
    assert model.evaluate(dataset(), verbose=0)[1] > 0.9


def test_predict_is_the_call_without_dropout(trained):
    model, _ = trained
    forest, _ = examples()
    predicted = model.predict(dataset().map(lambda trees, _: trees), verbose=0)
    np.testing.assert_allclose(predicted, model(forest), rtol=1e-3, atol=1e-4)


def test_sequential_models_begin_with_a_forest_input():
    keras.utils.set_random_seed(0)
    layers = functional().layers
    model = compiled(keras.Sequential([rtf.layers.ForestInput(), *layers[1:]]))
    losses = model.fit(dataset(), epochs=3, verbose=0, shuffle=False).history["loss"]
    assert losses[-1] < losses[0]
    with pytest.raises(ValueError, match="begins with ForestInput"):
        keras.Sequential(
            [rtf.layers.TreeEncoder(rtf.layers.TreeRNNCell(8), layers[1].embedding)]
        )(examples()[0])


def test_a_label_at_every_node_is_learned():
    forest, _ = examples()
    forest = forest.replace(labels=tf.cast(forest.is_leaf, tf.int32))
    batches = tf.data.Dataset.from_tensor_slices(forest).batch(8)
    model = compiled(functional(return_nodes=True))
    labeled = batches.map(lambda trees: (trees, trees.labels))
    model.fit(labeled, epochs=5, verbose=0, shuffle=False)
    assert model.evaluate(labeled, verbose=0)[1] > 0.95
    shape = model.predict(batches, verbose=0).shape
    assert shape == (int(forest.num_nodes), 2)


def test_several_steps_of_one_execution_are_the_same_steps():
    results = []
    for steps in (1, 3):
        model = compiled(functional(), steps_per_execution=steps)
        model.fit(dataset(), epochs=2, verbose=0, shuffle=False)
        results.append(model.get_weights())
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("choice", ["clipnorm", "global_clipnorm", "clipvalue"])
def test_clipped_gradients_bound_the_step(choice):
    optimizer = keras.optimizers.SGD(1.0, **{choice: 1e-4})
    model = compiled(functional(), optimizer=optimizer)
    model.layers[1].embedding.trainable = False  # Keras clips each of its look-ups.
    before = model.get_weights()
    model.train_on_batch(*next(iter(dataset())))
    changes = [np.abs(a - b) for a, b in zip(before, model.get_weights(), strict=True)]
    assert 0 < max(map(np.max, changes)) <= 1.001e-4


# --- Callbacks


def test_callbacks(tmp_path):
    model = compiled(functional())
    best = tmp_path / "best.keras"
    callbacks = [
        keras.callbacks.ModelCheckpoint(best, monitor="val_loss", save_best_only=True),
        keras.callbacks.EarlyStopping("val_loss", patience=1, min_delta=10.0),
        keras.callbacks.BackupAndRestore(tmp_path / "backup"),
    ]
    history = model.fit(
        dataset(),
        validation_data=dataset(),
        epochs=9,
        verbose=0,
        callbacks=callbacks,
        shuffle=False,
    )
    assert len(history.history["loss"]) == 2  # No epoch is better by 10.
    loaded = keras.models.load_model(best)
    losses = [m.evaluate(dataset(), verbose=0)[0] for m in (loaded, model)]
    np.testing.assert_allclose(losses[0], min(history.history["val_loss"]), rtol=1e-4)


def test_tensorboard_shows_losses_and_histograms(tmp_path):
    reader = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator",
        reason="TensorBoard is not installed",
    )
    board = keras.callbacks.TensorBoard(tmp_path, histogram_freq=1)
    history = compiled(functional()).fit(
        dataset(), epochs=2, verbose=0, callbacks=[board], shuffle=False
    )
    events = reader.EventAccumulator(str(tmp_path / "train")).Reload()
    losses = [tf.make_ndarray(e.tensor_proto) for e in events.Tensors("epoch_loss")]
    np.testing.assert_allclose(losses, history.history["loss"], rtol=1e-6)
    histograms = [tag for tag in events.Tags()["tensors"] if tag.endswith("histogram")]
    assert len(histograms) == 7  # One of each variable.


class Interrupted(Exception):  # noqa: N818
    pass


class Interrupt(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            raise Interrupted


def test_an_interrupted_training_goes_on_where_it_was(tmp_path):
    whole = compiled(functional())
    whole.fit(dataset(), epochs=4, verbose=0, shuffle=False)
    backup = keras.callbacks.BackupAndRestore(tmp_path / "backup")
    with pytest.raises(Interrupted):
        compiled(functional()).fit(
            dataset(),
            epochs=4,
            verbose=0,
            shuffle=False,
            callbacks=[backup, Interrupt()],
        )
    again = compiled(functional())
    backup = keras.callbacks.BackupAndRestore(tmp_path / "backup")
    history = again.fit(
        dataset(), epochs=4, verbose=0, shuffle=False, callbacks=[backup]
    )
    assert history.epoch == [2, 3]
    for one, other in zip(whole.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


# --- Saving

LOAD = """
import sys
import numpy as np
import recursive_tf as rtf
import tensorflow as tf

folder, expected = sys.argv[1], np.load(sys.argv[1] + "/expected.npy")
nested = {nested}
trees = rtf.data.from_nested(nested, binary={binary})
arrays = dict(tokens=trees.tokens, roots=trees.roots, sizes=trees.sizes)
if trees.is_binary:
    arrays |= dict(left=trees.left, right=trees.right)
else:
    arrays |= dict(children_values=trees.children.values,
                   children_row_splits=trees.children.row_splits)

model = tf.keras.models.load_model(folder + "/model.keras")
np.testing.assert_allclose(model(trees), expected, rtol=1e-4, atol=1e-5)
model.fit(tf.data.Dataset.from_tensors((trees, [0] * len(nested))), verbose=0)

exported = tf.saved_model.load(folder + "/exported")
np.testing.assert_allclose(exported.serve(trees), expected, rtol=1e-4, atol=1e-5)
found = exported.serve_arrays(**arrays)
np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
signature = exported.signatures["serving_default"]
(found,) = signature(**arrays).values()
np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
print("all the same")
"""


@pytest.mark.parametrize("binary", [True, False])
def test_a_process_that_imports_only_the_package_loads_what_was_saved(binary, tmp_path):
    cell = (
        rtf.layers.TreeLSTMCell(5)
        if binary
        else rtf.layers.ChildSumTreeLSTMCell(5, inputs_at="leaves")
    )
    nested = [[1, [2, 3]], 4] if binary else [[1, [2, 3, 4]], 4]
    forest = rtf.data.from_nested(nested, binary=binary)
    model = compiled(functional(cell))
    np.save(tmp_path / "expected.npy", model(forest))
    model.save(tmp_path / "model.keras")
    rtf.layers.export(model, tmp_path / "exported", forest)
    code = LOAD.replace("{nested}", repr(nested)).replace("{binary}", repr(binary))
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "all the same"


@keras.saving.register_keras_serializable("tests")
class Subclassed(keras.Model):
    def __init__(self, **choices):
        super().__init__(**choices)
        words = keras.layers.Embedding(6, 8)
        self.encoder = rtf.layers.TreeEncoder(rtf.layers.TreeGRUCell(4), words)
        self.classify = keras.layers.Dense(2)

    def call(self, forest):
        return self.classify(self.encoder(forest))


def test_a_subclassed_model_is_trained_and_exported(tmp_path):
    model = compiled(Subclassed())
    losses = model.fit(dataset(), epochs=3, verbose=0, shuffle=False).history["loss"]
    assert losses[-1] < losses[0]
    forest, _ = examples()
    rtf.layers.export(model, tmp_path, forest[:2])
    loaded = tf.saved_model.load(tmp_path)
    np.testing.assert_allclose(
        loaded.serve(forest), model(forest), rtol=1e-4, atol=1e-5
    )


def test_a_subclassed_model_is_loaded_with_all_of_its_weights(tmp_path):
    """Keras builds it, with what stands for a forest, before it loads them."""
    model = compiled(Subclassed())
    model.fit(dataset(), verbose=0, shuffle=False)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    forest, _ = examples()
    np.testing.assert_array_equal(loaded(forest), model(forest))


class Holder(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.model = Subclassed()

    def call(self, forest):
        return self.model(forest)


def test_a_layer_that_holds_an_encoder_stands_in_a_functional_model():
    holder, forest = Holder(), rtf.layers.ForestInput()
    model = keras.Model(forest, keras.layers.Dense(3)(holder(forest)))
    trees, _ = examples()
    np.testing.assert_array_equal(model(trees), model.layers[-1](holder(trees)))


def test_an_export_of_one_tree_says_to_show_a_batch(tmp_path):
    with pytest.raises(ValueError, match="Show a batch of trees"):
        rtf.layers.export(functional(), tmp_path, examples()[0][0])
