"""Cells: what one node of a tree computes, written for one node."""

from typing import NamedTuple

import tensorflow as tf


class State(NamedTuple):
    """What a node hands to its parent, each of shape [hidden]."""

    h: tf.Tensor
    c: tf.Tensor


class TreeLSTMCell(tf.Module):
    """The binary TreeLSTM with words at the leaves only.

    Tai, Socher, Manning. Improved Semantic Representations From Tree-Structured
    Long Short-Term Memory Networks. ACL 2015, equations 9 to 14 with N = 2; their
    constituency TreeLSTM. A leaf has no children and so no forget gate; an internal
    node has no word.

    Attributes:
        hidden: The length of `h` and of `c`.
        embedding: A row for each word, float32[vocabulary, embedding].
    """

    def __init__(self, vocabulary_size: int, embedding_size: int, hidden: int) -> None:
        super().__init__(name="tree_lstm_cell")
        self.hidden = hidden
        glorot = tf.keras.initializers.GlorotUniform()
        uniform = tf.keras.initializers.RandomUniform(-0.05, 0.05)
        self.embedding = tf.Variable(
            uniform([vocabulary_size, embedding_size]), name="embedding"
        )
        self._leaf_weights = tf.Variable(
            glorot([embedding_size, 3 * hidden]), name="leaf_weights"
        )
        self._leaf_bias = tf.Variable(tf.zeros([3 * hidden]), name="leaf_bias")
        self._weights = tf.Variable(glorot([2 * hidden, 5 * hidden]), name="weights")
        self._bias = tf.Variable(tf.zeros([5 * hidden]), name="bias")

    def embed(self, tokens: tf.Tensor) -> tf.Tensor:
        """Returns the vectors of words, int32[...] to float32[..., embedding]."""
        return tf.gather(self.embedding, tokens)

    def leaf(self, x: tf.Tensor) -> State:
        """Returns the state of a leaf with word vector `x`, float32[embedding]."""
        gates = _product(x, self._leaf_weights) + self._leaf_bias
        i, o, u = tf.split(gates, 3)
        return _state(o, tf.sigmoid(i) * tf.tanh(u))

    def __call__(self, left: State, right: State) -> State:
        """Returns the state of the node over two children."""
        children = tf.concat([left.h, right.h], axis=0)
        gates = _product(children, self._weights) + self._bias
        i, f_left, f_right, o, u = tf.split(gates, 5)
        c = tf.sigmoid(i) * tf.tanh(u)
        c += tf.sigmoid(f_left) * left.c + tf.sigmoid(f_right) * right.c
        return _state(o, c)


def _product(x: tf.Tensor, weights: tf.Variable) -> tf.Tensor:
    """Returns the row vector `x` times a matrix."""
    return tf.linalg.matvec(weights, x, transpose_a=True)


def _state(o: tf.Tensor, c: tf.Tensor) -> State:
    return State(tf.sigmoid(o) * tf.tanh(c), c)
