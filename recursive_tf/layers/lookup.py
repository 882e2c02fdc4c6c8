"""The vectors of words, of which a step uses a few."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from recursive_tf.distribute.tables import gather_rows, is_in_another_process
from recursive_tf.layers.losses import refused_losses

# What is no such number is cast; words are not looked up by number.
_KEPT = (tf.int32, tf.int64, tf.string)


def look_up(embedding: Any, tokens: tf.Tensor) -> tf.Tensor:
    """Returns what an embedding makes of tokens, in a body or outside.

    Keras's Embedding reads its whole table to take a row of it. Once an optimizer has
    updated some rows alone, TensorFlow copies a variable that is read, so that would be
    a copy of the table in each call. Rows of it are taken here.

    Args:
        embedding: A Keras layer; what differs from `keras.layers.Embedding` is called.
        tokens: Integers, of any shape.

    Raises:
        TypeError: If the tokens are words, and the layer looks up integers.
        ValueError: If the layer adds a loss in a body.
    """
    table = _table_of(embedding)
    if table is None:
        with refused_losses(embedding):
            return embedding(tokens)
    if tokens.dtype == tf.string:
        raise TypeError(
            f"{embedding.name} looks up integers, and the tokens are words. Encode the "
            "trees before: rtf.data.encode(trees, tokens=rtf.data.vocabulary(trees))."
        )
    # Where a layer computes in half precision, `value` is all of the table, cast.
    return tf.cast(gather_rows(table, _indices(tokens)), embedding.compute_dtype)


def vector_of(embedding: Any, tokens: tf.Tensor) -> Callable[[tf.Tensor], tf.Tensor]:
    """Returns what takes the number of a node to its token's vector, in a body.

    What another process holds, a root call reads as a whole. So the rows of a table
    there are taken here, those of the tokens, each once; bodies look up in these.

    Args:
        embedding: A Keras layer.
        tokens: [num_nodes], integers; negative where a node has none.
    """
    table = _table_of(embedding)
    if table is None or not is_in_another_process(table):
        return lambda node: look_up(embedding, tf.gather(tokens, node))
    tokens = _indices(tokens)
    has_token = tokens >= 0
    different, places = tf.unique(tf.boolean_mask(tokens, has_token))
    vectors = look_up(embedding, different)
    nowhere = tf.fill(tf.shape(tokens), -1)
    place_of = tf.tensor_scatter_nd_update(nowhere, tf.where(has_token), places)
    return lambda node: tf.gather(vectors, tf.gather(place_of, node))


def _indices(tokens: tf.Tensor) -> tf.Tensor:
    """Returns tokens of any numbers as indices, as Keras's Embedding does."""
    return tokens if tokens.dtype in _KEPT else tf.cast(tokens, tf.int32)


def _table_of(embedding: Any) -> tf.Variable | None:
    """Returns the variable of a layer that only looks up; None of another layer."""
    if type(embedding) is not keras.layers.Embedding:
        return None
    if embedding.activity_regularizer is not None:  # A call adds its loss.
        return None
    table = embedding.embeddings
    if not isinstance(table, keras.Variable):  # Of a quantized or an adapted layer.
        return None
    return table._value
