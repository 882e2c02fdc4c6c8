"""TensorFlow by hand: level by level, with a backward pass of its own.

    python -m benchmarks.peers.tensorflow_by_hand --model treelstm.npz --batch 25

There is a graph for each number of levels, without a loop: so the values of a level
are kept by being there, and the backward pass reads them without a table. States stand
in tables whose rows are updated in place. Leaves of one word are one row. The gradients
of the kernels are one product each, after the last level.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from benchmarks.peers import command
from benchmarks.peers.levels import Leveler, Levels
from benchmarks.peers.tensorflow_cells import Kept, States, cell_of
from benchmarks.peers.tensorflow_weights import Gradients, Weights
from benchmarks.works.work import CLASSES, Work

THREADS = 2


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

    def gradients(self, batch: Levels) -> tuple[tf.Tensor, Gradients]:
        """Returns the loss, and the gradients of the weights and of rows `words`."""
        levels = _levels_of(batch)
        tables, below = self._forward(batch, levels)
        h = tables[0] if self._at_nodes else tf.gather(tables[0], batch.rows)
        loss = self._weights.loss_and_gradients(h, batch.targets)
        dh = loss.h
        if not self._at_nodes:
            dh = _zeros(tf.shape(tables[0])[0], self._cell.widths[0])
            dh = tf.raw_ops.InplaceAdd(x=dh, i=batch.rows, v=loss.h)
        others = [_zeros(tf.shape(dh)[0], width) for width in self._cell.widths[1:]]
        dtables, dz = self._backward((dh, *others), levels, below)
        x = _pairs(tables[0], tf.reshape(batch.children, [-1]))
        gradients = loss.weights | _of_product("", x, dz)
        num_words = tf.size(batch.words)
        dstates = tuple(table[:num_words] for table in dtables)
        return loss.value, gradients | self._leaf_gradients(below, dstates)

    def _forward(
        self, batch: Levels, levels: list[Rows]
    ) -> tuple[States, Below]:
        """Returns the tables of states, and what the backward pass needs."""
        x = self._weights.look_up(batch.words)
        states, leaf = self._cell.leaf(self._product("leaf_", x))
        num_rows = tf.shape(batch.words)[0] + tf.shape(batch.children)[0]
        tables = tuple(_empty(num_rows, width) for width in self._cell.widths)
        tables = _write(tables, tf.range(tf.size(batch.words)), states)
        inner = []
        for level in levels:
            h, *others = (_pairs(table, level.children) for table in tables)
            states, kept = self._cell.inner(self._product("", h), tuple(others))
            tables = _write(tables, level.numbers, states)
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
            dtables = tuple(
                tf.raw_ops.InplaceAdd(
                    x=table, i=level.children, v=tf.reshape(d, [-1, width])
                )
                for table, d, width in zip(
                    dtables, (dz @ kernel, *dothers), self._cell.widths, strict=True
                )
            )
        return dtables, tf.concat(all_dz[::-1], 0)

    def _leaf_gradients(self, below: Below, dstates: States) -> Gradients:
        dz = self._cell.leaf_gradient(below.leaf, dstates)
        if "leaf_kernel" not in self._weights:
            return {"embedding": dz}
        dx = tf.matmul(dz, self._weights["leaf_kernel"], transpose_b=True)
        return {"embedding": dx} | _of_product("leaf_", below.x, dz)

    def _product(self, kind: str, x: tf.Tensor) -> tf.Tensor:
        if f"{kind}kernel" not in self._weights:
            return x
        z = x @ self._weights[f"{kind}kernel"]
        return tf.nn.bias_add(z, self._weights[f"{kind}bias"])


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


def _empty(rows: tf.Tensor, width: int) -> tf.Tensor:
    return tf.raw_ops.Empty(shape=[rows, width], dtype=tf.float32)


def _zeros(rows: tf.Tensor, width: int) -> tf.Tensor:
    """Returns a table of its own: equal `tf.zeros` would be merged into one."""
    return tf.raw_ops.Empty(shape=[rows, width], dtype=tf.float32, init=True)


def _write(tables: States, rows: tf.Tensor, states: States) -> States:
    return tuple(
        tf.raw_ops.InplaceUpdate(x=table, i=rows, v=state)
        for table, state in zip(tables, states, strict=True)
    )


def _pairs(table: tf.Tensor, children: tf.Tensor) -> tf.Tensor:
    """Returns rows of both children side by side."""
    return tf.reshape(tf.gather(table, children), [-1, 2 * table.shape[1]])


def _of_product(kind: str, x: tf.Tensor, dz: tf.Tensor) -> Gradients:
    return {
        f"{kind}kernel": tf.matmul(x, dz, transpose_a=True),
        f"{kind}bias": tf.reduce_sum(dz, 0),
    }


class TensorFlowByHand:
    """Steps around the recursion, a graph of each for each number of levels.

    Args:
        work: What to compute.
        optimizer: "sgd" or "adagrad".
    """

    def __init__(self, work: Work, optimizer: str) -> None:
        self._weights = Weights(work, optimizer)
        self._recursion = Recursion(work, self._weights)
        self._level = Leveler(work, share=True)
        self._at_nodes = work.recursion.loss_at == "nodes"
        self._train = functools.cache(functools.partial(_traced, self._train_step))
        self._infer = functools.cache(functools.partial(_traced, self._recursion.loss))
        self._gradients = functools.cache(
            functools.partial(_traced, self._recursion.gradients)
        )

    def train(self, trees: np.ndarray) -> float:
        """Runs a step of training; returns the loss."""
        return float(self._run(self._train, trees))

    def infer(self, trees: np.ndarray) -> float:
        """Returns the loss."""
        return float(self._run(self._infer, trees))

    def gradients(self, trees: np.ndarray) -> tuple[float, dict[str, float]]:
        """Returns the loss, and the norms of its gradients."""
        loss, gradients = self._run(self._gradients, trees)
        norms = {name: float(tf.norm(gradients[name])) for name in gradients}
        return float(loss), {name: norms[name] for name in self._weights.variables}

    def _run(self, steps: Callable[[int], Any], trees: np.ndarray) -> Any:
        batch = self._level(trees)
        arrays = (batch.words, batch.children, batch.sizes, batch.rows, batch.targets)
        return steps(len(batch.sizes))(*map(tf.constant, arrays))

    def _train_step(self, batch: Levels) -> tf.Tensor:
        loss, gradients = self._recursion.gradients(batch)
        self._weights.update(gradients, batch.words)
        return loss


def _traced(step: Callable[[Levels], Any], num_levels: int) -> Any:
    """Returns the graph of a step for batches of so many levels."""
    words, children = tf.TensorSpec([None], tf.int32), tf.TensorSpec([None, 2], tf.int32)
    sizes = tf.TensorSpec([num_levels], tf.int32)
    targets = tf.TensorSpec([None, CLASSES], tf.float32)
    return tf.function(
        lambda *arrays: step(Levels(*arrays)), autograph=False
    ).get_concrete_function(words, children, sizes, words, targets)


def make(work: Work, optimizer: str) -> TensorFlowByHand:
    """Returns the system."""
    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    # What runs at the same time would only contend for the same processors.
    tf.config.threading.set_inter_op_parallelism_threads(1)
    return TensorFlowByHand(work, optimizer)


def versions() -> dict[str, str]:
    """Says what the system is made with."""
    return {"tensorflow": tf.__version__}


if __name__ == "__main__":
    command.main(make, versions)
