"""An LSTM along sequences of words, which may all be as long or not."""

from __future__ import annotations

import tensorflow as tf

import recursive_tf as rtf
from benchmarks.cavs.program import (
    VOCABULARY,
    Form,
    Result,
    pair_of,
    product,
    random_variable,
)

Words = tf.Tensor | tf.RaggedTensor


class Lstm(tf.Module):
    """The weights of a cell, and of words."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units = units
        self.table = random_variable(1, VOCABULARY, units)
        self.kernel = random_variable(2, 2 * units, 4 * units)
        self.bias = tf.Variable(tf.zeros([4 * units]))

    def __call__(
        self, word: tf.Tensor, h: tf.Tensor, c: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns h and c after a word."""
        x = tf.gather(self.table, word)
        gates = product(tf.concat([x, h], 0), self.kernel) + self.bias
        i, f, o, u = tf.split(gates, 4)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(u)
        return tf.sigmoid(o) * tf.tanh(c), c


def steps_of(words: Words) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Returns all words, whether each is the first, and the last of each sequence."""
    if not isinstance(words, tf.RaggedTensor):
        size, length = tf.unstack(tf.shape(words))
        is_first = tf.tile(tf.range(length) == 0, [size])
        return tf.reshape(words, [-1]), is_first, (tf.range(size) + 1) * length - 1
    is_first = tf.equal(tf.ragged.range(words.row_lengths()).values, 0)
    return words.values, is_first, tf.cast(words.row_limits() - 1, tf.int32)


def vertex(
    lstm: Lstm, result: Result = tf.identity, options: rtf.Options | None = None
) -> Form:
    """Returns the result of h of each step, by a vertex function."""

    @rtf.vertex(state=pair_of(lstm.units), options=options)
    def step(v: rtf.Vertex) -> None:
        h, c = lstm(v.pull(), *v.gather(0))
        v.scatter((h, c))
        v.push(result(h))

    def run(words: Words) -> tf.Tensor:
        words, is_first, _ = steps_of(words)
        before = tf.where(is_first, -1, tf.range(tf.size(words)) - 1)
        return step(before[:, tf.newaxis], words)

    return run


def subgraph(lstm: Lstm) -> Form:
    """Returns h of each step, by a recursion from the last one."""

    def nothing() -> tuple[tf.Tensor, tf.Tensor]:
        return tf.zeros([lstm.units]), tf.zeros([lstm.units])

    def run(words: Words) -> tf.Tensor:
        words, is_first, last = steps_of(words)
        with rtf.SubGraph("step", output_signature=pair_of(lstm.units)) as step:
            at = step.input(tf.int32)
            previous = tf.cond(tf.gather(is_first, at), nothing, lambda: step(at - 1))
            h, c = lstm(tf.gather(words, at), *previous)
            step.push("h", h, index=at, size=tf.size(words))
            step.output((h, c))
        return step.map(last, with_pushed=True)[1]["h"]

    return run
