"""The top-down TreeLSTM, which scores and generates dependency trees."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from recursive_tf.layers.cell import plus, product
from recursive_tf.layers.gated_cell import GatedCell, LSTMState
from recursive_tf.layers.lookup import look_up

# Types of edges: from a word to its first dependent on either side, and from a
# dependent to the next one on the same side.
EDGES = ("left", "right", "next_left", "next_right")


@keras.saving.register_keras_serializable("recursive_tf")
class TDTreeLSTMCell(GatedCell):
    """What an edge of a dependency tree makes of a word, from the root down.

    Zhang, Lu, Lapata. Top-down Tree Long Short-Term Memory Networks. NAACL 2016: an
    LSTM for each type of edge z, with embeddings and output in common. An edge of type
    z from a word w' with the state (h', c') to a word w gives, with s the logistic
    function,

        x = W_e e(w')
        i, f, o = s(W_z [x; h'] + b_z), u = tanh(W_z [x; h'] + b_z)      LSTM_z
        c = i * u + f * c'
        h = o * tanh(c)
        p(w) = softmax(W_ho h)

    and, for a word that is generated, for each type of edge,

        p(edge) = s(W_2 relu(W_1 [h; W_e e(w)] + b_1) + b_2)

    States go down, so this is no cell of a `TreeEncoder`: a recursion takes a state and
    calls `cell(state, word, edge)` before it calls itself for a dependent. See
    docs/layers.md. Its variables are there from the start.
    """

    def __init__(self, units: int, vocabulary: int, **kwargs: Any) -> None:
        """Makes the cell.

        Args:
            units: The length of h, of c and of a word's vector.
            vocabulary: How many words there are.
            **kwargs: Of `GatedCell`.
        """
        super().__init__(units, **kwargs)
        self.vocabulary = vocabulary
        self.edge_kernels = {
            edge: self.kernel(f"{edge}_kernel", 2 * units, 4 * units) for edge in EDGES
        }
        self.edge_biases = {
            edge: self.bias(f"{edge}_bias", 4 * units) for edge in EDGES
        }
        policy = self.dtype_policy
        self.embedding = keras.layers.Embedding(vocabulary, units, dtype=policy)
        self.of_word = keras.layers.Dense(vocabulary, use_bias=False, dtype=policy)
        self.hidden = keras.layers.Dense(units, "relu", dtype=policy)
        self.of_edges = keras.layers.Dense(len(EDGES), dtype=policy)
        self.embedding.build(())
        self.of_word.build((None, units))
        self.hidden.build((None, 2 * units))
        self.of_edges.build((None, units))
        self.built = True

    def build_from_config(self, config: dict[str, Any]) -> None:
        """Does nothing: the variables are there."""

    def start(self) -> LSTMState:
        """Returns the state that nothing came before."""
        zeros = tf.zeros([self.units], self.compute_dtype)
        return LSTMState(zeros, zeros)

    def call(self, state: LSTMState, word: tf.Tensor, edge: str) -> LSTMState:
        """Returns the state that an edge makes of a word.

        Args:
            state: Of the word where the edge begins.
            word: An integer: that word.
            edge: One of "left", "right", "next_left" and "next_right".
        """
        x = self.dropout(look_up(self.embedding, word))
        both = tf.concat([x, self.recurrent_dropout(state.h)], 0)
        gates = plus(product(both, self.edge_kernels[edge]), self.edge_biases[edge])
        i, f, o, u = tf.split(gates, 4)
        forgotten = self.recurrent_activation(f) * state.c
        return self.lstm_state(o, self.candidate(i, u) + forgotten)

    def word_logits(self, state: LSTMState) -> tf.Tensor:
        """Returns the logits of which word has this state, [vocabulary]."""
        return self.of_word(state.h[tf.newaxis])[0]

    def edge_logits(self, state: LSTMState, word: tf.Tensor) -> tf.Tensor:
        """Returns the logits of whether a word has each edge, [4], as `EDGES`."""
        both = tf.concat([state.h, look_up(self.embedding, word)], 0)
        return self.of_edges(self.hidden(both[tf.newaxis]))[0]

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the cell."""
        return super().get_config() | {"vocabulary": self.vocabulary}
