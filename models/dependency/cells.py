"""What a word hands down, and whether the words on its left are remembered.

Both cells have `step`, what an edge makes of a word; `no_left`, the memory of a word
without left dependents; and `remember`, which adds one to it. A memory is a structure
of tensors. Left dependents are remembered from the outermost to the nearest.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from models.dependency.edges import LEFT
from recursive_tf.layers import LSTMState, TDTreeLSTMCell

NO_WORD = 0  # What a vocabulary gives for no word.
MEMORY = "memory"  # What stands for the LSTM over left dependents among the edges'.


@keras.saving.register_keras_serializable("recursive_tf_models")
class PathCell(TDTreeLSTMCell):
    """TD-TreeLSTM: a word follows from the way to it from the root alone."""

    def no_left(self) -> tuple[()]:
        """Returns nothing: nothing is remembered."""
        return ()

    def step(
        self, state: LSTMState, word: tf.Tensor, edge: str, left: Any
    ) -> LSTMState:
        """Returns the state that an edge makes of a word; see `TDTreeLSTMCell`."""
        return self(state, word, edge=edge)

    def remember(self, left: Any, word: tf.Tensor, side: tf.Tensor) -> tuple[()]:
        """Returns nothing."""
        return ()


@keras.saving.register_keras_serializable("recursive_tf_models")
class LeftCell(TDTreeLSTMCell):
    """LdTreeLSTM: the first word on the right also follows from those on the left.

    Zhang, Lu, Lapata. NAACL 2016. With v_1 ... v_K the left dependents of a word w', an
    LSTM goes over their vectors, and what it ends with is a further input where an edge
    leads from w' to its first right dependent:

        (q_k, m_k) = LSTM_left(W_e e(v_k), (q_k-1, m_k-1))
        (h, c) = LSTM_right([W_e e(w'); q_K], (h', c'))

    Both are the LSTM of `TDTreeLSTMCell`, with weights of their own: a memory is a
    state, and an edge to the right takes q beside h'.
    """

    def __init__(self, units: int, vocabulary: int, **kwargs: Any) -> None:
        """Makes the cell; arguments as of `TDTreeLSTMCell`."""
        super().__init__(units, vocabulary, **kwargs)
        self.edge_kernels[MEMORY] = self.kernel("memory_kernel", 2 * units, 4 * units)
        self.edge_biases[MEMORY] = self.bias("memory_bias", 4 * units)

    def kernel(self, name: str, rows: int, columns: int) -> keras.Variable:
        """Returns a new matrix; that of edges to the right takes q too."""
        q = self.units if name == "right_kernel" else 0
        return super().kernel(name, rows + q, columns)

    def no_left(self) -> LSTMState:
        """Returns the memory of no word."""
        return self.start()

    def step(
        self, state: LSTMState, word: tf.Tensor, edge: str, left: LSTMState
    ) -> LSTMState:
        """Returns the state that an edge makes of a word, and of those on its left."""
        if edge == "right":
            state = LSTMState(tf.concat([state.h, left.h], 0), state.c)
        return self(state, word, edge=edge)

    def remember(self, left: LSTMState, word: tf.Tensor, side: tf.Tensor) -> LSTMState:
        """Returns the memory with one more word, if it is a left dependent."""
        return tf.cond(
            side == LEFT, lambda: self(left, word, edge=MEMORY), self.no_left
        )


Cell = PathCell | LeftCell


def state_of_root(cell: Cell) -> LSTMState:
    """Returns the state of every root: it is on the right of a word that is none."""
    return cell.step(cell.start(), tf.constant(NO_WORD), "right", cell.no_left())
