"""Trees that TensorFlow joins words in are those that Python does, node by node."""

import pytest
import tensorflow as tf

from recursive_tf.data import ForestError, from_words, generate
from tests.data.examples import assert_same

SHAPES = ["balanced", "linear"]
LENGTHS = {
    "one word": [1],
    "all small numbers": range(1, 70),
    "beside powers of two": [1023, 1024, 1025, 1],
    "one long, others short": [2, 100, 3, 1],
}


def sentences_of(lengths):
    return [[f"{i}.{j}" for j in range(n)] for i, n in enumerate(lengths)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=[*LENGTHS])
def test_trees_over_a_ragged_tensor_are_those_over_lists(lengths, shape):
    sentences = sentences_of(lengths)
    joined = from_words(tf.ragged.constant(sentences), shape).validate()
    assert_same(joined, from_words(sentences, shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_graph_makes_trees_of_any_number_of_texts(shape):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def trees_of(texts):
        return from_words(tf.strings.split(texts), shape)

    for texts in (["so it goes"], ["a", "not a dull film at all", "b c"]):
        expected = from_words([text.split() for text in texts], shape)
        assert_same(trees_of(tf.constant(texts)), expected)
    assert trees_of(tf.constant([], tf.string)).roots.shape == [0]


def test_words_may_be_numbers():
    numbers = tf.ragged.constant([[3, 1, 4, 1], [5]], tf.int64)
    joined = from_words(numbers, "linear").validate()
    assert joined.tokens.dtype == tf.int64
    assert joined.to_nested() == [[3, [1, [4, 1]]], 5]
    shaped = generate("linear", 1, words=4)
    assert joined[0].left.numpy().tolist() == shaped.left.numpy().tolist()


def test_a_long_sentence_is_joined_without_recursion():
    words = tf.ragged.constant([["w"] * 20_001])
    assert int(from_words(words, "linear").num_nodes) == 40_001


@pytest.mark.parametrize("shape", SHAPES)
def test_a_sentence_without_words_is_an_error(shape):
    with pytest.raises(tf.errors.InvalidArgumentError, match="no words, so it is no"):
        from_words(tf.ragged.constant([["a"], []]), shape)


@pytest.mark.parametrize("shape", ["moderate", "random"])
def test_a_random_shape_is_refused(shape):
    with pytest.raises(ForestError, match=f"'{shape}' are drawn in Python"):
        from_words(tf.ragged.constant([["a", "b"]]), shape)


def test_pieces_of_words_are_refused():
    pieces = tf.ragged.constant([[["film", "s"]]])
    with pytest.raises(ForestError, match=r"Got .* with 2 ragged dimensions"):
        from_words(pieces)
    assert from_words(pieces.merge_dims(1, 2)).to_nested() == [["film", "s"]]


def test_a_sentence_that_is_not_split_is_an_error():
    with pytest.raises(ForestError, match=r"sentence 1 is a text, 'a film', and not a"):
        from_words([["a", "film"], "a film"])
