"""Words' vectors are what Keras makes of them, and no table is read for a few rows."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

TOKENS = tf.constant([[3, 1], [3, 0]])


@pytest.fixture
def embedding():
    layer = keras.layers.Embedding(5, 4)
    layer.build(())
    return layer


def test_vectors_are_those_of_the_layer(embedding):
    np.testing.assert_array_equal(
        rtf.layers.look_up(embedding, TOKENS), embedding(TOKENS)
    )


@pytest.mark.parametrize("dtype", [tf.int64, tf.uint8, tf.int16, tf.float32, tf.bool])
def test_tokens_are_of_any_type_that_the_layer_takes(embedding, dtype):
    tokens = tf.cast(TOKENS, dtype)
    np.testing.assert_array_equal(
        rtf.layers.look_up(embedding, tokens), embedding(tokens)
    )


def test_the_gradient_has_the_rows_that_were_looked_up(embedding):
    with tf.GradientTape() as tape:
        found = rtf.layers.look_up(embedding, TOKENS)
    gradient = tape.gradient(found, embedding.trainable_variables[0].value)
    assert isinstance(gradient, tf.IndexedSlices)
    np.testing.assert_array_equal(gradient.indices, [3, 1, 3, 0])


def test_vectors_have_the_dtype_that_the_layer_computes_in():
    layer = keras.layers.Embedding(5, 4, dtype="mixed_float16")
    layer.build(())
    assert rtf.layers.look_up(layer, TOKENS).dtype == tf.float16


class Doubled(keras.layers.Embedding):
    def call(self, inputs):
        return 2 * super().call(inputs)


def test_words_are_to_be_encoded_before(embedding):
    with pytest.raises(TypeError, match=r"the tokens are words\. Encode the trees"):
        rtf.layers.look_up(embedding, tf.constant(["a"]))


def test_a_layer_of_another_kind_is_called():
    layer = Doubled(5, 4)
    np.testing.assert_array_equal(rtf.layers.look_up(layer, TOKENS), layer(TOKENS))


def test_an_adapted_layer_is_called(embedding):
    embedding.enable_lora(2)
    embedding.lora_embeddings_b.assign(tf.ones([2, 4]))
    expected = embedding(TOKENS)
    np.testing.assert_array_equal(rtf.layers.look_up(embedding, TOKENS), expected)


class Sum(keras.layers.Layer):
    """A cell without variables: those of a model are its table."""

    def leaf(self, x):
        return x

    def call(self, children, x):
        left, right = children
        return left + right


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
def test_a_step_reads_no_table(executor, embedding):
    encoder = rtf.layers.TreeEncoder(Sum(), embedding, executor=executor)
    trees = rtf.data.generate("random", 3, words=4, vocabulary=5)
    encoder(trees)

    @tf.function
    def step(forest):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(encoder(forest))
        return tape.gradient(loss, encoder.trainable_variables)

    definition = step.get_concrete_function(trees).graph.as_graph_def()
    functions = definition.library.function
    nodes = [*definition.node, *(n for f in functions for n in f.node_def)]
    ops = {node.op for node in nodes}
    assert "ReadVariableOp" not in ops
    assert "ResourceGather" in ops
