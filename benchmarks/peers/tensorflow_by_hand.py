"""TensorFlow by hand: level by level, with a backward pass of its own.

    python -m benchmarks.peers.tensorflow_by_hand --model treelstm.npz --batch 25

There is a graph for each number of levels, without a loop: so the values of a level
are kept by being there, and the backward pass reads them without a table. States stand
in tables whose rows are updated in place. Leaves of one word are one row. The gradients
of the kernels are one product each, after the last level.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from benchmarks.peers import tensorflow_steps
from benchmarks.peers.levels import Leveler, Levels
from benchmarks.peers.tensorflow_cells import Kept, States, cell_of
from benchmarks.peers.tensorflow_steps import Steps
from benchmarks.peers.tensorflow_tables import add, empty, pairs, write, zeros
from benchmarks.peers.tensorflow_weights import Gradients, Weights, of_product
from benchmarks.works.work import Work


class Rows(NamedTuple):
    """A level.

    Attributes:
        numbers: int32[rows]: its rows of the tables, which follow each other.
        children: int32[2 * rows]: those of its children, by turns left and right.
        begin, size: int32[2]: where the slice of its rows begins, and its size.
    """

    numbers: tf.Tensor
    children: tf.Tensor
    begin: tf.Tensor
    size: tf.Tensor


class Below(NamedTuple):
    """What the backward pass needs of the leaves, and of each level."""

    x: tf.Tensor
    leaf: Kept
    inner: list[Kept]


class Recursion:
    """The computation of one batch, which is traced for a number of levels.

    Args:
        work: What to compute.
        weights: Its weights.
    """

    def __init__(self, work: Work, weights: Weights) -> None:
        self._cell = cell_of(work)
        self._weights = weights
        self._at_nodes = work.recursion.loss_at == "nodes"

    def loss(self, batch: Levels) -> tf.Tensor:
        """Returns the loss."""
        tables, _ = self._forward(batch, _levels_of(batch))
        h = tables[0] if self._at_nodes else tf.gather(tables[0], batch.rows)
        return self._weights.loss(h, batch.targets)

    def gradients(self, batch: Levels) -> tuple[tf.Tensor, Gradients, tf.Tensor]:
        """Returns the loss, the gradients of the weights, and the words of rows."""
        levels = _levels_of(batch)
        tables, below = self._forward(batch, levels)
        h = tables[0] if self._at_nodes else tf.gather(tables[0], batch.rows)
        loss = self._weights.loss_and_gradients(h, batch.targets)
        dh = loss.h
        if not self._at_nodes:
            all_rows = zeros(tf.shape(tables[0])[0], self._cell.widths[:1])
            (dh,) = add(all_rows, batch.rows, (dh,))
        others = zeros(tf.shape(dh)[0], self._cell.widths[1:])
        dtables, dz = self._backward((dh, *others), levels, below)
        x = pairs(tables[0], tf.reshape(batch.children, [-1]))
        num_words = tf.size(batch.words)
        leaves = self._leaf_gradients(below, tuple(t[:num_words] for t in dtables))
        gradients = loss.weights | of_product("", x, dz) | leaves
        return loss.value, gradients, batch.words

    def _forward(self, batch: Levels, levels: list[Rows]) -> tuple[States, Below]:
        """Returns the tables of states, and what the backward pass needs."""
        x = self._weights.look_up(batch.words)
        states, leaf = self._cell.leaf(self._weights.product("leaf_", x))
        num_rows = tf.shape(batch.words)[0] + tf.shape(batch.children)[0]
        tables = empty(num_rows, self._cell.widths)
        tables = write(tables, tf.range(tf.size(batch.words)), states)
        inner = []
        for level in levels:
            h, *others = (pairs(table, level.children) for table in tables)
            states, kept = self._cell.inner(self._weights.product("", h), tuple(others))
            tables = write(tables, level.numbers, states)
            inner.append(kept)
        return tables, Below(x, leaf, inner)

    def _backward(
        self, dtables: States, levels: list[Rows], below: Below
    ) -> tuple[States, tf.Tensor]:
        """Returns the tables with all gradients, and those of all inner products."""
        kernel = tf.transpose(self._weights["kernel"])
        all_dz = []
        for level, kept in zip(reversed(levels), reversed(below.inner), strict=True):
            states = tuple(tf.slice(t, level.begin, level.size) for t in dtables)
            dz, dothers = self._cell.inner_gradient(kept, states)
            all_dz.append(dz)
            dtables = add(dtables, level.children, (dz @ kernel, *dothers))
        if not levels:
            return dtables, tf.zeros([0, kernel.shape[0]])
        return dtables, tf.concat(all_dz[::-1], 0)

    def _leaf_gradients(self, below: Below, dstates: States) -> Gradients:
        dz = self._cell.leaf_gradient(below.leaf, dstates)
        if "leaf_kernel" not in self._weights:
            return {"embedding": dz}
        dx = tf.matmul(dz, self._weights["leaf_kernel"], transpose_b=True)
        return {"embedding": dx} | of_product("leaf_", below.x, dz)


def _levels_of(batch: Levels) -> list[Rows]:
    """Returns the levels, made at once: an op a level is what counts at one tree."""
    sizes = batch.sizes
    num_levels = sizes.shape[0]
    if not num_levels:
        return []
    num_words, num_inner = tf.size(batch.words), tf.shape(batch.children)[0]
    begins = num_words + tf.cumsum(sizes, exclusive=True)
    return list(
        map(
            Rows,
            tf.split(tf.range(num_words, num_words + num_inner), sizes),
            tf.split(tf.reshape(batch.children, [-1]), 2 * sizes),
            tf.unstack(tf.stack([begins, tf.zeros_like(sizes)], 1)),
            tf.unstack(tf.stack([sizes, -tf.ones_like(sizes)], 1)),
        )
    )


def system(work: Work, optimizer: str) -> Steps:
    """Returns the system, in a process with any number of threads."""
    weights = Weights(work, optimizer)
    level = Leveler(work, share=True)
    return Steps(Recursion(work, weights), weights, level, unrolled=True)


if __name__ == "__main__":
    tensorflow_steps.serve(system)
