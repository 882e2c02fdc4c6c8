"""The callbacks of a run in a `fit` of one's own."""

import keras
import numpy as np
import pytest

from recursive_tf.training import BestEpoch, Checkpoints, Monitor, Record
from tests.training.run_program import make_batches, make_model

pytestmark = pytest.mark.slow

TREES, BATCH = 20, 5
STEPS = TREES // BATCH


@pytest.fixture(scope="module")
def batches():
    return make_batches(TREES, BATCH)


def new_model():
    keras.utils.set_random_seed(0)
    return make_model()


def weights(model):
    return [variable.numpy() for variable in model.variables]


def train(model, batches, last, epochs):
    model.fit(
        batches,
        initial_epoch=last.position.epochs if last.position else 0,
        epochs=epochs,
        shuffle=False,
        verbose=0,
        callbacks=[last],
    )


def test_a_model_that_saw_no_batch_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"element_spec=batches\.element_spec"):
        Checkpoints(new_model(), tmp_path, steps=STEPS)
    assert list(tmp_path.iterdir()) == []


def test_moments_are_kept_of_a_model_that_saw_no_batch(batches, tmp_path):
    spec = batches.element_spec
    whole, first, second = (new_model() for _ in range(3))
    whole.fit(batches, epochs=2, shuffle=False, verbose=0)
    made = Checkpoints(first, tmp_path, steps=STEPS, element_spec=spec)
    train(first, batches, made, 1)
    found = Checkpoints(second, tmp_path, steps=STEPS, element_spec=spec)
    assert found.position == (1, 0)
    assert int(second.optimizer.iterations) == STEPS
    train(second, batches, found, 2)
    for ours, expected in zip(weights(second), weights(whole), strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_folders_may_be_text(batches, tmp_path):
    model = new_model()
    record = Record(str(tmp_path / "metrics.jsonl"), TREES, 0)
    best = BestEpoch(str(tmp_path / "best.keras"), record, Monitor("loss", "min"))
    spec, folder = batches.element_spec, str(tmp_path / "last")
    last = Checkpoints(model, folder, steps=STEPS, element_spec=spec)
    all_of_them = [record, best, last]
    model.fit(
        batches,
        validation_data=batches,
        shuffle=False,
        verbose=0,
        callbacks=all_of_them,
    )
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"metrics.jsonl", "best.keras", "last"}


def test_a_model_that_saw_a_batch_needs_no_spec(batches, tmp_path):
    model = new_model()
    model.fit(batches, epochs=1, shuffle=False, verbose=0)
    assert Checkpoints(model, tmp_path, steps=STEPS).position is None
