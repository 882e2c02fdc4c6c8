"""What is not in the folder of a run is not called damaged; and how to get it."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.training import RunError, RunFolder


def test_a_model_that_is_not_there_is_named(tmp_path):
    message = r"best\.keras is not there\. A run writes it when its first epoch is done"
    with pytest.raises(RunError, match=message):
        RunFolder(tmp_path).load_best()


def test_a_vocabulary_that_is_not_there_is_named(tmp_path):
    message = r"words\.txt is not there\. Put back a copy of it, or write it again with"
    with pytest.raises(RunError, match=message):
        RunFolder(tmp_path).load_words()


def test_a_vocabulary_that_is_cut_is_damaged(tmp_path):
    folder = RunFolder(tmp_path)
    folder.save_words(keras.layers.StringLookup(vocabulary=["a", "b"], mask_token=""))
    known = folder.load_words().get_vocabulary(include_special_tokens=False)
    assert known == ["a", "b"]
    folder.words.write_text("a\nb")
    with pytest.raises(RunError, match=r"words\.txt is damaged: it is cut"):
        folder.load_words()


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"mask_token": None}, "mask_token=None"),
        ({"mask_token": "", "num_oov_indices": 0}, "num_oov_indices=0"),
    ],
    ids=["without a number for no word", "without one for unknown words"],
)
def test_a_vocabulary_that_would_be_numbered_in_another_way_is_refused(
    choices, said, tmp_path
):
    words = keras.layers.StringLookup(vocabulary=["a", "b"], **choices)
    with pytest.raises(ValueError, match=said):
        RunFolder(tmp_path).save_words(words)


def test_a_word_with_a_line_break_is_refused(tmp_path):
    words = keras.layers.StringLookup(vocabulary=["a\nb"], mask_token="")
    with pytest.raises(ValueError, match=r"'a\\nb' has a line break"):
        RunFolder(tmp_path).save_words(words)


@keras.saving.register_keras_serializable("tests")
class OfItsOwn(keras.Model):
    """What Keras cannot call with what stands for a forest."""

    def __init__(self, **choices):
        super().__init__(**choices)
        self.dense = keras.layers.Dense(2)

    def call(self, forest):
        return self.dense(tf.cast(forest.tokens, tf.float32)[:, None])


@keras.saving.register_keras_serializable("tests")
class Built(OfItsOwn):
    def build_from_config(self, config):
        self(rtf.data.from_nested([[1, 2]]))


def saved(model, folder):
    """Trains a model, and saves it as the best one."""
    trees = rtf.data.from_nested([[1, [2, 3]], [4, 5]])
    batches = tf.data.Dataset.from_tensors((trees, tf.zeros([8, 2])))
    model.compile("sgd", "mse")
    model.fit(batches, verbose=0, shuffle=False)
    model.save(folder.best)
    return trees


def test_a_model_that_says_how_it_is_built_is_loaded(tmp_path):
    model = Built()
    trees = saved(model, RunFolder(tmp_path))
    loaded = RunFolder(tmp_path).load_best()
    np.testing.assert_array_equal(loaded(trees), model(trees))


@pytest.mark.filterwarnings("ignore:.*cannot be built automatically")
def test_a_model_that_keras_cannot_build_is_not_loaded_with_new_weights(tmp_path):
    saved(OfItsOwn(), RunFolder(tmp_path))
    with pytest.raises(RunError, match=r"not build dense.* from .* Give OfItsOwn a"):
        RunFolder(tmp_path).load_best()
