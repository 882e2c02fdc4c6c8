"""What a callback ends within an epoch goes on there, and is no whole epoch."""

import keras
import numpy as np
import pytest

from recursive_tf.training import Run
from recursive_tf.training.checkpoints import positions_in
from tests.models.scripts import figures
from tests.training.run_program import AtStep, make_model, make_trees, of_roots

pytestmark = pytest.mark.slow

CHOSEN = {"epochs": 3, "batch_size": 5, "checkpoint_every": 3, "verbose": 0}
STEPS = 8


class Stop(AtStep):
    """Ends training after a step, as `TerminateOnNaN` does."""

    def act(self):
        self.model.stop_training = True


@pytest.fixture(scope="module")
def trees():
    return make_trees(50)


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


@pytest.mark.large
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


def averaging():
    return keras.optimizers.Adam(0.02, use_ema=True, ema_momentum=0.9)


def test_averages_of_weights_go_into_them_once(trees, tmp_path):
    """Keras's `fit` puts them there, and a run that goes on calls it twice."""
    _, whole = train(tmp_path / "whole", trees, optimizer=averaging())
    train(tmp_path / "two", trees, Stop(1, 5), optimizer=averaging())
    _, again = train(tmp_path / "two", trees, optimizer=averaging())
    assert figures(tmp_path / "two") == figures(tmp_path / "whole")
    for ours, expected in zip(again.weights, whole.weights, strict=True):
        np.testing.assert_array_equal(ours.numpy(), expected.numpy())
    average = whole.optimizer._model_variables_moving_average
    for weight, expected in zip(whole.trainable_weights, average, strict=True):
        np.testing.assert_array_equal(weight.numpy(), expected.numpy())


@pytest.mark.large
def test_averages_are_there_where_the_rest_of_an_epoch_is_stopped(trees, tmp_path):
    train(tmp_path, trees, Stop(1, 3), optimizer=averaging())
    _, model = train(tmp_path, trees, Stop(1, 5), optimizer=averaging())
    average = model.optimizer._model_variables_moving_average
    for weight, expected in zip(model.trainable_weights, average, strict=True):
        np.testing.assert_array_equal(weight.numpy(), expected.numpy())
