"""A run does not go on with a model that is not the one it began with."""

import keras
import pytest

import recursive_tf as rtf
from recursive_tf.training import Checkpoints, RunError
from recursive_tf.training.checkpoints import positions_in
from tests.training.run_program import WORDS, make_batches

pytestmark = pytest.mark.slow

TREES, BATCH = 10, 5
STEPS = TREES // BATCH


@pytest.fixture(scope="module")
def batches():
    return make_batches(TREES, BATCH)


def make(optimizer=keras.optimizers.Adam, words=WORDS, middle=2, name=None):
    trees = rtf.layers.ForestInput()
    embedding = keras.layers.Embedding(words, 2)
    h = rtf.layers.TreeEncoder(rtf.layers.TreeRNNCell(2), embedding)(trees)
    for number in range(middle):
        h = keras.layers.Dense(2, name=name and f"{name}{number}")(h)
    model = keras.Model(trees, h)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer(0.02), loss)
    return model


def checkpoints(model, folder, batches):
    spec = batches.element_spec
    return Checkpoints(model, folder, steps=STEPS, every=1, element_spec=spec)


@pytest.fixture(scope="module")
def folder(batches, tmp_path_factory):
    """Checkpoints within an epoch, and of a whole one."""
    path = tmp_path_factory.mktemp("last")
    model = make()
    last = checkpoints(model, path, batches)
    model.fit(batches, shuffle=False, verbose=0, callbacks=[last])
    assert positions_in(path) == [(1, 0), (0, 1)]
    return path


def test_a_model_that_is_made_anew_is_the_same(folder, batches):
    assert checkpoints(make(), folder, batches).position == (1, 0)


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({"words": WORDS + 1}, r"embeddings \[9, 2\], .* has .*embeddings \[10, 2\]"),
        ({"middle": 1}, r"dense/kernel \[2, 2\], where the model has "),
        ({"middle": 3}, r", where the model has dense/kernel \[2, 2\]"),
        ({"optimizer": keras.optimizers.RMSprop}, r"adam/.* the model has rm_sprop/"),
        ({"optimizer": keras.optimizers.Nadam}, r"adam/.* the model has nadam/"),
        ({"name": "own"}, r"dense/kernel .* the model has own0/kernel"),
    ],
)
def test_another_one_is_refused_and_the_difference_named(
    folder, batches, changed, difference
):
    message = rf"ckpt-1 does not fit the model: it has .*{difference}"
    with pytest.raises(RunError, match=message) as error:
        checkpoints(make(**changed), folder, batches)
    assert "damaged" not in str(error.value)


def test_a_checkpoint_that_does_not_say_what_it_has_is_restored(
    folder, batches, tmp_path
):
    """As versions before this one wrote them."""
    model = make()
    last = checkpoints(model, folder, batches)
    last._needed_of_epoch.write(str(tmp_path / "ckpt-1"))
    assert checkpoints(make(), tmp_path, batches).position == (1, 0)
