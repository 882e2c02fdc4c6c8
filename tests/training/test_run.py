"""A run of any Keras model goes on to the same figures, and says what is in its way."""

import importlib.util
import json
import re

import keras
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.training import Monitor, Run, RunError
from recursive_tf.training.checkpoints import positions_in
from tests.models.scripts import figures
from tests.training.run_program import WORDS, AtStep

pytestmark = pytest.mark.slow

CLASSES = 3
# Eight steps an epoch, and a checkpoint after each three.
CHOSEN = {"epochs": 3, "batch_size": 5, "checkpoint_every": 3, "verbose": 0}


class Nodes(keras.Model):
    """Its variables, and those of its metrics, are made by its first batch."""

    def __init__(self):
        super().__init__()
        self.encoder = rtf.layers.TreeEncoder(
            rtf.layers.TreeLSTMCell(4, dropout=0.2),
            keras.layers.Embedding(WORDS, 4),
            return_nodes=True,
        )
        self.dropout = keras.layers.Dropout(0.5)
        self.logits = keras.layers.Dense(CLASSES)

    def call(self, forest, training=None):
        return self.logits(self.dropout(self.encoder(forest), training=training))


def with_labels(forest):
    return forest, forest.labels


def make_model(model=None):
    keras.utils.set_random_seed(3)
    model = model or Nodes()
    model.compile(
        keras.optimizers.Adam(0.02),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


@pytest.fixture(scope="module")
def trees():
    found = rtf.data.generate("random", 50, vocabulary=WORDS, seed=0)
    return found.replace(
        labels=tf.random.stateless_uniform(
            [found.num_nodes], [1, 2], 0, CLASSES, tf.int32
        )
    )


def fit(folder, trees, model=None, num_train=40, **chosen):
    model = make_model(model)
    with Run(folder) as run:
        best = run.fit(
            model,
            trees[:num_train],
            trees[40:],
            prepare=with_labels,
            **(CHOSEN | chosen),
        )
    return best, figures(run.folder.path)


@pytest.fixture(scope="module")
def undisturbed(trees, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "undisturbed"
    best, found = fit(folder, trees)
    return folder, best, found


class Interrupt(AtStep):
    """Ends training as Ctrl-C does."""

    def act(self):
        raise KeyboardInterrupt


def stop_at(folder, trees, epoch, step, **chosen):
    with pytest.raises(KeyboardInterrupt):
        fit(folder, trees, callbacks=[Interrupt(epoch, step)], **chosen)


def test_it_goes_on_from_a_step_to_the_same_figures(undisturbed, trees, tmp_path):
    _, best, expected = undisturbed
    stop_at(tmp_path, trees, 1, 8)
    assert positions_in(tmp_path / "last") == [(1, 6), (1, 3)]
    again, found = fit(tmp_path, trees)
    assert found == expected
    assert again["epoch"] == best["epoch"]


def test_its_files_are_those_of_the_page(undisturbed):
    folder, best, found = undisturbed
    names = {"best.keras", "curve.png", "last", "metrics.jsonl", "order.json"}
    assert {path.name for path in folder.iterdir()} == names
    assert set(found[0]) == {"epoch", "loss", "dev_loss", "dev_accuracy"}
    assert best["dev_loss"] == min(line["dev_loss"] for line in found)


def functional():
    forest = rtf.layers.ForestInput()
    embedding = keras.layers.Embedding(WORDS, 4)
    cell = rtf.layers.TreeRNNCell(4)
    h = rtf.layers.TreeEncoder(cell, embedding, return_nodes=True)(forest)
    return keras.Model(forest, keras.layers.Dense(CLASSES)(h))


def test_the_best_model_is_the_one_of_the_line(trees, tmp_path):
    best, _ = fit(tmp_path, trees, functional())
    model = rtf.training.RunFolder(tmp_path).load_best()
    batch = rtf.data.batches(trees[40:], 10).map(with_labels)
    loss, accuracy = model.evaluate(batch, verbose=0)
    assert loss == pytest.approx(best["dev_loss"], rel=1e-4)
    assert accuracy == pytest.approx(best["dev_accuracy"], rel=1e-4)


@pytest.mark.parametrize(
    ("chosen", "complaint"),
    [
        ({"batch_size": 4}, "the run has batch_size 5, and not 4"),
        ({"seed": 1}, "the run has seed 0, and not 1"),
    ],
)
def test_another_order_is_refused(undisturbed, trees, chosen, complaint):
    folder, _, expected = undisturbed
    with pytest.raises(RunError, match=rf"order\.json: {complaint}\. Go on with"):
        fit(folder, trees, **chosen)
    assert figures(folder) == expected


def test_other_trees_are_refused(undisturbed, trees):
    folder, _, _ = undisturbed
    with pytest.raises(RunError, match="the run has trees 40, and not 39"):
        fit(folder, trees, num_train=39)


def test_what_has_no_checkpoint_may_begin_otherwise(trees, tmp_path):
    stop_at(tmp_path, trees, 0, 2)
    assert positions_in(tmp_path / "last") == []
    fit(tmp_path, trees, epochs=1, seed=7)
    assert json.loads((tmp_path / "order.json").read_text())["seed"] == 7


def test_a_damaged_order_is_written_again(trees, tmp_path, caplog):
    fit(tmp_path, trees, epochs=1)
    (tmp_path / "order.json").write_text('{"trees": 4')
    fit(tmp_path, trees, epochs=2)
    assert "order.json is damaged: it is written again." in caplog.text
    assert json.loads((tmp_path / "order.json").read_text())["trees"] == 40


@pytest.mark.parametrize("model", [None, "functional"])
def test_a_metric_that_the_model_lacks_is_named_before_a_step(trees, tmp_path, model):
    steps = Count()
    model = functional() if model else None
    with pytest.raises(ValueError, match=r"no metric recall, .* It has accuracy, loss"):
        fit(tmp_path, trees, model, best_by=Monitor("recall", "max"), callbacks=[steps])
    assert steps.taken == 0


class OwnTest(Nodes):
    """Its evaluation returns what no metric of it is."""

    def test_step(self, data):
        return super().test_step(data) | {"half": tf.constant(0.5)}


def test_what_an_evaluation_of_its_own_returns_may_decide(trees, tmp_path):
    best, _ = fit(tmp_path, trees, OwnTest(), best_by=Monitor("half", "max"), epochs=1)
    assert best["dev_half"] == 0.5


def test_what_an_evaluation_of_its_own_lacks_is_named(trees, tmp_path):
    with pytest.raises(ValueError, match=r"no metric recall, .* It has .*half"):
        fit(tmp_path, trees, OwnTest(), best_by=Monitor("recall", "max"), epochs=1)


class Count(keras.callbacks.Callback):
    """Counts steps."""

    def __init__(self):
        super().__init__()
        self.taken = 0

    def on_train_batch_end(self, batch, logs=None):
        self.taken += 1


def test_a_mode_is_max_or_min():
    with pytest.raises(ValueError, match="mode='best': choose one of"):
        Monitor("accuracy", "best")


class StopEarly(keras.callbacks.Callback):
    """Ends training as Keras's EarlyStopping does; counts how often it ended."""

    def __init__(self, epoch):
        super().__init__()
        self._last = epoch
        self.begun = self.ended = 0

    def on_train_begin(self, logs=None):
        self.begun += 1

    def on_epoch_end(self, epoch, logs=None):
        self.model.stop_training = epoch == self._last

    def on_train_end(self, logs=None):
        self.ended += 1


def test_a_callback_may_end_it_in_the_rest_of_an_epoch(trees, tmp_path):
    stop_at(tmp_path, trees, 1, 8)
    stops = StopEarly(1)
    _, found = fit(tmp_path, trees, callbacks=[stops])
    assert [line["epoch"] for line in found] == [1, 2]
    assert (stops.begun, stops.ended) == (1, 1)


@pytest.mark.large
def test_kerass_bar_counts_the_steps_of_whole_epochs(trees, tmp_path, capsys):
    stop_at(tmp_path, trees, 1, 8)
    capsys.readouterr()
    fit(tmp_path, trees, verbose=1)
    said = capsys.readouterr().out
    assert re.findall(r"Epoch (\d)/3", said) == ["2", "3"]
    assert "7/8" in said
    assert "8/8" in said


def test_without_matplotlib_it_draws_nothing_and_says_so(
    trees, tmp_path, caplog, monkeypatch
):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *more: None if name == "matplotlib" else find_spec(name, *more),
    )
    fit(tmp_path, trees, epochs=1)
    assert "pip install 'recursive_tf[data]'" in caplog.text
    assert not (tmp_path / "curve.png").exists()


WRONG = {
    "no batches": ({"batch_size": 0}, ValueError, "batch_size=0: a step takes one"),
    "no forest": ({"train": [1, 2]}, TypeError, r"as train\. Got \[1, 2\]"),
    "no trees": ({"dev": rtf.data.from_nested([1])[:0]}, ValueError, "dev has no"),
    "no labels": ({"prepare": None}, ValueError, r"nodes.* gets forests alone\. Give"),
    "no optimizer": ({"model": keras.Sequential()}, ValueError, "is not compiled"),
}


@pytest.mark.parametrize(("given", "kind", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_trained_is_said_before_a_step(
    given, kind, said, trees, tmp_path
):
    right = {
        "model": make_model(),
        "train": trees,
        "dev": trees,
        "prepare": with_labels,
    }
    with Run(tmp_path) as run, pytest.raises(kind, match=said):
        run.fit(**(right | CHOSEN | given))


def test_a_run_that_fails_leaves_no_folder_of_its_own(tmp_path):
    with pytest.raises(KeyError), Run(tmp_path / "new"):
        raise KeyError
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyError), Run(tmp_path):
        raise KeyError
    assert tmp_path.exists()


def test_a_second_run_of_the_folder_is_refused(tmp_path):
    message = "is still going on, by process"
    with Run(tmp_path), pytest.raises(RunError, match=message), Run(tmp_path, 0.0):
        pass
    with Run(tmp_path, 0.0):
        pass
