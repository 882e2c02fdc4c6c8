"""What is not in the folder of a run is not called damaged; and how to get it."""

import keras
import pytest

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
