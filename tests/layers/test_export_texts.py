"""An exported model makes trees of texts by itself, in a process without our Python."""

import importlib.util
import os
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

pytestmark = pytest.mark.slow

PHRASES = rtf.data.from_nested([["a", ["lovely", "film"]], ["not", "bad"]])
WORDS = rtf.data.vocabulary(PHRASES)
ENCODED = rtf.data.encode(PHRASES, tokens=WORDS)
TEXTS = ["A lovely, lovely film", "bad", "what a film"]
LOAD = """
import sys
import tensorflow as tf
import recursive_tf
IMPORT
served = tf.saved_model.load(sys.argv[1])
found = served.serve_texts(TEXTS)
signature = served.signatures["serve_texts"](texts=tf.constant(TEXTS))["output_0"]
assert (found == signature).numpy().all()
print(*found.numpy().flatten())
"""


@pytest.fixture(scope="module")
def model():
    embedding = keras.layers.Embedding(WORDS.vocabulary_size(), 3)
    cell = rtf.layers.TreeLSTMCell(4)
    layers = [rtf.layers.ForestInput(), rtf.layers.TreeEncoder(cell, embedding)]
    return keras.Sequential([*layers, keras.layers.Dense(2)])


def loaded_elsewhere(folder, imported=""):
    """Returns what a new process that loads the model says of TEXTS."""
    code = LOAD.replace("IMPORT", imported).replace("TEXTS", repr(TEXTS))
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stderr
    return [float(number) for number in done.stdout.split()]


def split_at_spaces(texts):
    """Uses a table that is a global of this module."""
    words = tf.strings.split(tf.strings.lower(texts))
    return rtf.data.encode(rtf.data.from_words(words), tokens=WORDS)


class Splitting(tf.Module):
    """Has its table as an attribute."""

    def __init__(self):
        super().__init__()
        self.words = WORDS

    def __call__(self, texts):
        return self.trees(texts)

    def trees(self, texts):
        words = tf.strings.split(tf.strings.lower(texts))
        return rtf.data.encode(rtf.data.from_words(words), tokens=self.words)


@pytest.mark.parametrize(
    "preprocess",
    [
        pytest.param(split_at_spaces, id="function", marks=pytest.mark.large),
        pytest.param(Splitting(), id="module"),
        pytest.param(Splitting().trees, id="method", marks=pytest.mark.large),
    ],
)
def test_texts_are_served_in_a_process_of_their_own(model, preprocess, tmp_path):
    rtf.layers.export(model, tmp_path / "m", like=ENCODED, preprocess=preprocess)
    expected = model(split_at_spaces(tf.constant(TEXTS))).numpy()
    assert len(np.unique(expected.round(5))) == expected.size
    found = loaded_elsewhere(tmp_path / "m")
    np.testing.assert_allclose(found, expected.flatten(), rtol=1e-4, atol=1e-6)


@pytest.mark.skipif(
    importlib.util.find_spec("tensorflow_text") is None,
    reason="needs pip install tensorflow-text",
)
def test_a_tokenizer_of_tensorflow_text_is_served(model, tmp_path):
    import tensorflow_text

    tokenizer = tensorflow_text.UnicodeScriptTokenizer()

    def trees_of(texts):
        words = tokenizer.tokenize(tf.strings.lower(texts))
        return rtf.data.encode(rtf.data.from_words(words), tokens=WORDS)

    rtf.layers.export(model, tmp_path / "m", like=ENCODED, preprocess=trees_of)
    expected = model(trees_of(tf.constant(TEXTS))).numpy()
    of_spaces = model(split_at_spaces(tf.constant(TEXTS))).numpy()
    assert np.abs(expected[0] - of_spaces[0]).max() > 1e-4  # "lovely," has a comma.
    found = loaded_elsewhere(tmp_path / "m", "import tensorflow_text")
    np.testing.assert_allclose(found, expected.flatten(), rtol=1e-4, atol=1e-6)


def test_what_returns_no_trees_is_refused(model, tmp_path):
    with pytest.raises(TypeError, match=r"must return an rtf\.data\.Forest.*Ragged"):
        rtf.layers.export(
            model, tmp_path / "m", like=ENCODED, preprocess=tf.strings.split
        )
    assert not (tmp_path / "m").exists()
