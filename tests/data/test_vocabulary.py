"""Words become integers, and integers vectors."""

import gzip

import numpy as np
import pytest
import tensorflow as tf

from recursive_tf.data import (
    ForestError,
    ReadError,
    encode,
    from_nested,
    label_vocabulary,
    load_vectors,
    vocabulary,
)

TREES = [[["b", "a"], ["b", "c"]], ["b", ["a", "d"]]]


def trees():
    return from_nested(TREES)


def test_words_are_numbered_by_frequency_then_bytes():
    words = vocabulary(trees()).get_vocabulary()
    assert words == ["", "[UNK]", "b", "a", "c", "d"]


def test_no_word_is_0_and_an_unknown_one_1():
    encoded = encode(from_nested([["b", "zebra"]]), tokens=vocabulary(trees()))
    assert encoded.tokens.dtype == tf.int32
    np.testing.assert_array_equal(encoded.tokens, [2, 1, 0])


def test_rare_words_may_be_left_out():
    assert vocabulary(trees(), min_count=2).vocabulary_size() == 4
    assert vocabulary(trees(), max_size=3).get_vocabulary() == ["", "[UNK]", "b"]


def test_a_dataset_has_the_vocabulary_of_its_forest():
    dataset = tf.data.Dataset.from_tensor_slices(trees()).batch(1)
    assert vocabulary(dataset).get_vocabulary() == vocabulary(trees()).get_vocabulary()


def test_trees_are_encoded_in_a_dataset():
    words = vocabulary(trees())
    dataset = tf.data.Dataset.from_tensor_slices(trees())
    encoded = dataset.map(lambda tree: encode(tree, tokens=words)).batch(2)
    np.testing.assert_array_equal(
        next(iter(encoded)).tokens, encode(trees(), tokens=words).tokens
    )


@pytest.mark.parametrize("array", ["tokens", "labels"])
def test_what_is_no_string_is_not_encoded(array):
    words = vocabulary(from_nested([["a", "b"]]))
    with pytest.raises(ForestError, match=rf"{array} that are strings"):
        encode(from_nested([[1, 2]]), **{array: words})


def test_labels_are_numbered_from_0_and_none_is_minus_1():
    labeled = trees().replace(labels=["NN", "DT", *["NN"] * 6, "", "", "X", ""])
    labels = label_vocabulary(labeled)
    assert labels.get_vocabulary() == ["NN", "DT", "X"]
    encoded = encode(labeled, labels=labels)
    np.testing.assert_array_equal(encoded.labels, [0, 1, *[0] * 6, -1, -1, 2, -1])
    with pytest.raises(tf.errors.InvalidArgumentError):
        encode(labeled.replace(labels=["new"] * 12), labels=labels)


def test_a_feature_may_have_a_vocabulary():
    with_tags = trees().replace(features={"pos": ["N"] * 12})
    assert vocabulary(with_tags, "pos").get_vocabulary() == ["", "[UNK]", "N"]


def test_a_vocabulary_of_what_is_no_string_is_refused():
    with pytest.raises(ForestError, match="'labels' is no such array"):
        label_vocabulary(trees())
    with pytest.raises(ForestError, match="'tokens' is int32s"):
        vocabulary(from_nested([1, 2]))


@pytest.fixture
def vectors(tmp_path):
    def write(text, **choices):
        path = tmp_path / "vectors.txt.gz"
        path.write_bytes(gzip.compress(text.encode()))
        return load_vectors(path, vocabulary(trees()), **choices)

    return write


def test_a_word_has_the_vector_of_the_file(vectors, capsys):
    found = vectors("b 1 2 -3e-1\nx y z w\na 4 5 6\nb 9 9 9\n")
    assert found.matrix.dtype == np.float32
    np.testing.assert_allclose(found.matrix[2:4], [[1, 2, -0.3], [4, 5, 6]])
    np.testing.assert_array_equal(found.matrix[0], 0)
    assert found.missing == ["c", "d"]
    assert found.coverage == 0.5
    assert "vectors of 2 of 4 words (50.0%)" in capsys.readouterr().out


def test_words_without_a_vector_get_small_ones_by_the_seed(vectors):
    first, again, other = (vectors("b 1 2\n", seed=s).matrix for s in (1, 1, 2))
    assert 0 < np.abs(first[[1, 3, 4, 5]]).max() <= 0.05
    np.testing.assert_array_equal(first, again)
    assert (first[3:] != other[3:]).all()


def test_a_header_and_words_with_spaces_are_no_trouble(vectors):
    found = vectors("2 3\nb 1 2 3\n. . 7 7 7\n")
    np.testing.assert_allclose(found.matrix[2], [1, 2, 3])


def test_a_word_may_be_looked_up_in_lower_case(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("film 1 2\n")
    words = vocabulary(from_nested([["Film", "x"]]))
    assert load_vectors(path, words).coverage == 0
    assert load_vectors(path, words, lower=True).missing == ["x"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("b 1 2\na 3\n", "line 2: expected a word and 2 numbers"),
        ("b 1 2\na 3 four\n", "line 2: could not convert string to float: b'four'"),
        ("\n", "there is no vector"),
    ],
)
def test_a_file_without_vectors_is_refused(vectors, text, complaint):
    with pytest.raises(ReadError, match=complaint):
        vectors(text)
