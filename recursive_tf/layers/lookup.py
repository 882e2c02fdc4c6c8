"""The vectors of words, of which a step uses a few."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from recursive_tf.distribute.tables import gather_rows


def look_up(embedding: Any, tokens: tf.Tensor) -> tf.Tensor:
    """Returns what an embedding makes of tokens, in a body or outside.

    Keras's Embedding reads its whole table to take a row of it. Once an optimizer has
    updated some rows alone, TensorFlow copies a variable that is read, so that would be
    a copy of the table in each call. Rows of it are taken here.

    Args:
        embedding: A Keras layer; what differs from `keras.layers.Embedding` is called.
        tokens: Integers, of any shape.
    """
    if type(embedding) is not keras.layers.Embedding:
        return embedding(tokens)
    table = embedding.embeddings
    if not isinstance(table, keras.Variable):  # Of a quantized or an adapted layer.
        return embedding(tokens)
    # Where a layer computes in half precision, `value` is all of the table, cast.
    return tf.cast(gather_rows(table._value, tokens), embedding.compute_dtype)
