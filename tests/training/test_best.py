"""The model of the best epoch stays, whatever else of a run is lost."""

import shutil

import keras
import pytest

from recursive_tf.training import Monitor, Run, RunError
from recursive_tf.training.best import line_of
from tests.training.run_program import make_model, make_trees, of_roots

pytestmark = pytest.mark.slow

# Of a model that learns, the first epoch has the highest loss.
FIRST, LAST = Monitor("loss", "max"), Monitor("loss", "min")


@pytest.fixture(scope="module")
def trees():
    return make_trees(50)


@pytest.fixture
def folder(trees, tmp_path):
    """Of a run of two epochs, of which the first is kept."""
    assert train(tmp_path, trees, epochs=2)["epoch"] == 1
    return tmp_path


def train(folder, trees, epochs, best_by=FIRST, callbacks=()):
    keras.utils.set_random_seed(0)
    with Run(folder) as run:
        return run.fit(
            make_model(),
            trees[:40],
            trees[40:],
            epochs=epochs,
            batch_size=5,
            prepare=of_roots,
            best_by=best_by,
            callbacks=callbacks,
            verbose=0,
        )


def test_a_record_that_is_lost_does_not_cost_it(folder, trees):
    before = (folder / "best.keras").read_bytes()
    (folder / "metrics.jsonl").unlink()
    best = train(folder, trees, epochs=3)
    assert best["epoch"] == 1
    assert (folder / "best.keras").read_bytes() == before
    (folder / "metrics.jsonl").unlink()
    assert train(folder, trees, epochs=3) == best


def test_a_checkpoint_and_a_record_that_are_lost_do_not_cost_it(folder, trees):
    assert train(folder, trees, epochs=3, best_by=LAST)["epoch"] == 3
    before = (folder / "best.keras").read_bytes()
    (folder / "metrics.jsonl").unlink()
    shutil.rmtree(folder / "last")
    with pytest.raises(RunError, match=r"no checkpoint any more, and 3 epochs were d"):
        train(folder, trees, epochs=4)
    assert (folder / "best.keras").read_bytes() == before


def test_what_decides_may_change(folder, trees):
    """The line is that of the model that is there, and of no other epoch."""
    assert train(folder, trees, epochs=2, best_by=LAST)["epoch"] == 1
    assert train(folder, trees, epochs=3, best_by=LAST)["epoch"] == 3
    assert line_of(folder / "best.keras")["epoch"] == 3


def test_a_model_that_another_saved_has_no_line(folder, trees, caplog):
    path = folder / "best.keras"
    keras.models.load_model(path).save(path)
    assert line_of(path) is None
    assert train(folder, trees, epochs=3)["epoch"] == 3
    assert "the best one of the epochs to come is kept there" in caplog.text


def test_an_epoch_that_is_done_again_is_saved_again(trees, tmp_path):
    ends = []
    count = keras.callbacks.LambdaCallback(on_epoch_end=lambda *_: ends.append(1))
    train(tmp_path, trees, epochs=1, callbacks=count)
    assert len(ends) == 1
    shutil.rmtree(tmp_path / "last")  # As if it was killed before its checkpoint.
    first = line_of(tmp_path / "best.keras")
    again = train(tmp_path, trees, epochs=1)
    assert again["epoch"] == first["epoch"] == 1
    assert again["dev_loss"] == first["dev_loss"]
    assert line_of(tmp_path / "best.keras") == again
