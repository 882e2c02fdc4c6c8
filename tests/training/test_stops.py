"""What a callback ends within an epoch goes on there, and is no whole epoch."""

import keras
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.training import Run
from recursive_tf.training.checkpoints import positions_in
from tests.models.scripts import figures
from tests.training.run_program import WORDS, make_model, of_roots

pytestmark = pytest.mark.slow

CHOSEN = {"epochs": 3, "batch_size": 5, "checkpoint_every": 3, "verbose": 0}
STEPS = 8


class Stop(keras.callbacks.Callback):
    """Ends training after a step, as `TerminateOnNaN` does."""

    def __init__(self, epoch, step):
        super().__init__()
        self._at = (epoch, step)

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if (self._epoch, batch + 1) == self._at:
            self.model.stop_training = True


@pytest.fixture(scope="module")
def trees():
    found = rtf.data.generate("random", 50, vocabulary=WORDS, seed=0)
    return found.replace(labels=tf.cast(found.tokens > WORDS // 2, tf.int32))


def train(folder, trees, *callbacks, optimizer=None):
    keras.utils.set_random_seed(0)
    model = make_model()
    if optimizer is not None:
        model.compile(optimizer, model.loss, metrics=["accuracy"])
    with Run(folder) as run:
        best = run.fit(
            model,
            trees[:40],
            trees[40:],
            prepare=of_roots,
            callbacks=callbacks,
            **CHOSEN,
        )
    return best, model


@pytest.fixture(scope="module")
def expected(trees, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    train(folder, trees)
    return figures(folder)


def positions(folder):
    return positions_in(folder / "last")


def test_an_epoch_that_is_stopped_goes_on_to_the_same_figures(
    trees, expected, tmp_path
):
    best, _ = train(tmp_path, trees, Stop(1, 5))
    assert positions(tmp_path)[0] == (1, 5)
    assert figures(tmp_path) == expected[:1]
    assert best["epoch"] == 1
    train(tmp_path, trees)
    assert figures(tmp_path) == expected


def test_the_rest_of_an_epoch_may_be_stopped_again(trees, expected, tmp_path):
    for step in (2, 4):
        train(tmp_path, trees, Stop(1, step))
        assert positions(tmp_path)[0] == (1, step)
    train(tmp_path, trees)
    assert figures(tmp_path) == expected


def test_a_first_epoch_that_is_stopped_has_no_best_one(trees, tmp_path):
    best, _ = train(tmp_path, trees, Stop(0, 2))
    assert best is None
    assert positions(tmp_path) == [(0, 2)]
    assert not (tmp_path / "best.keras").exists()


def test_an_epoch_that_is_stopped_after_its_last_step_is_done(
    trees, expected, tmp_path
):
    train(tmp_path, trees, Stop(1, STEPS))
    assert positions(tmp_path)[0] == (2, 0)
    assert figures(tmp_path) == expected[:2]
