"""TensorFlow's `while_loop` over nodes, children before parents, one an iteration.

    python -m benchmarks.peers.tensorflow_while_loop --model treelstm.npz --batch 25

The iterative program that recursion is compared with (Jeong et al., EuroSys 2018,
figure 1), with loops of its own for the backward pass. TensorFlow's gradient of a loop
copies a list of all states for each that is read, so a batch would cost the square of
its nodes. Here states stand in tables whose rows are updated in place, and the
gradients of the kernels are one product each, after the loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from benchmarks.peers import tensorflow_steps
from benchmarks.peers.levels import Leveler, Levels
from benchmarks.peers.tensorflow_cells import States, cell_of
from benchmarks.peers.tensorflow_steps import Steps
from benchmarks.peers.tensorflow_tables import add, pairs, write, zeros
from benchmarks.peers.tensorflow_weights import Gradients, Weights, of_product
from benchmarks.works.work import Work

# A node, int32[1], and the tables before and after it.
Body = Callable[[tf.Tensor, States], States]


class Forward(NamedTuple):
    """What the first loops leave.

    Attributes:
        x: [num_leaves, embedding].
        states: Tables of all rows.
        leaves, inner: What the gradient needs of each node; () at inference.
    """

    x: tf.Tensor
    states: States
    leaves: States
    inner: States


class Recursion:
    """The computation of one batch.

    Args:
        work: What to compute.
        weights: Its weights.
    """

    def __init__(self, work: Work, weights: Weights) -> None:
        self._cell = cell_of(work)
        self._weights = weights
        self._has_leaf_product = work.recursion.leaf.product is not None
        self._widths = self._cell.widths

    def loss(self, batch: Levels) -> tf.Tensor:
        """Returns the loss."""
        h = self._forward(batch, keeps=False).states[0]
        return self._weights.loss(tf.gather(h, batch.rows), batch.targets)

    def gradients(self, batch: Levels) -> tuple[tf.Tensor, Gradients, tf.Tensor]:
        """Returns the loss, the gradients of the weights, and distinct words."""
        forward = self._forward(batch, keeps=True)
        h = tf.gather(forward.states[0], batch.rows)
        loss = self._weights.loss_and_gradients(h, batch.targets)
        dstates = zeros(tf.shape(forward.states[0])[0], self._widths)
        (dh,) = add(dstates[:1], batch.rows, (loss.h,))
        dstates, dz = self._inner_gradients(batch, forward, (dh, *dstates[1:]))
        x = pairs(forward.states[0], tf.reshape(batch.children, [-1]))
        dx, leaves = self._leaf_gradients(forward, dstates)
        words, slots = tf.unique(batch.words)
        dx = tf.math.unsorted_segment_sum(dx, slots, tf.size(words))
        gradients = loss.weights | of_product("", x, dz) | leaves
        return loss.value, gradients | {"embedding": dx}, words

    def _forward(self, batch: Levels, keeps: bool) -> Forward:
        x = self._weights.look_up(batch.words)
        num_leaves, num_inner = tf.size(batch.words), tf.shape(batch.children)[0]
        states = zeros(num_leaves + num_inner, self._widths)
        states, leaves = self._leaves(x, states, keeps)
        inner = zeros(num_inner, self._cell.inner_kept if keeps else ())

        def body(i: tf.Tensor, tables: States) -> States:
            states, kept_tables = (
                tables[: len(self._widths)],
                tables[len(self._widths) :],
            )
            children = tf.reshape(tf.gather(batch.children, i), [2])
            h, *others = (pairs(table, children) for table in states)
            z = self._weights.product("", h)
            new, kept = self._cell.inner(z, tuple(others))
            states = write(states, i + num_leaves, new)
            return states + write(kept_tables, i, self._cell.pack(kept))

        tables = _run(num_inner, body, states + inner)
        return Forward(x, tables[: len(states)], leaves, tables[len(states) :])

    def _leaves(
        self, x: tf.Tensor, states: States, keeps: bool
    ) -> tuple[States, States]:
        """Returns the tables with the states of leaves, and what they keep."""
        num_leaves = tf.shape(x)[0]
        if not self._has_leaf_product:
            return write(states, tf.range(num_leaves), (x,)), ()
        kept = zeros(num_leaves, self._cell.leaf_kept if keeps else ())

        def body(i: tf.Tensor, tables: States) -> States:
            z = self._weights.product("leaf_", tf.gather(x, i))
            new, kept = self._cell.leaf(z)
            return write(tables, i, new + self._cell.pack(kept))

        tables = _run(num_leaves, body, states + kept)
        return tables[: len(states)], tables[len(states) :]

    def _inner_gradients(
        self, batch: Levels, forward: Forward, dstates: States
    ) -> tuple[States, tf.Tensor]:
        """Returns the tables with all gradients, and those of all products."""
        num_leaves, num_inner = tf.size(batch.words), tf.shape(batch.children)[0]
        kernel = tf.transpose(self._weights["kernel"])

        def body(i: tf.Tensor, tables: States) -> States:
            *dstates, all_dz = tables
            node = num_inner - 1 - i
            children = tf.reshape(tf.gather(batch.children, node), [2])
            kept = self._cell.unpack_inner(
                tuple(tf.gather(table, node) for table in forward.inner),
                tuple(pairs(table, children) for table in forward.states[1:]),
            )
            row = tuple(tf.gather(table, node + num_leaves) for table in dstates)
            dz, dothers = self._cell.inner_gradient(kept, row)
            dstates = add(dstates, children, (dz @ kernel, *dothers))
            return (*dstates, *write((all_dz,), node, (dz,)))

        tables = dstates + zeros(num_inner, (self._weights["bias"].shape[0],))
        *dstates, dz = _run(num_inner, body, tables)
        return tuple(dstates), dz

    def _leaf_gradients(
        self, forward: Forward, dstates: States
    ) -> tuple[tf.Tensor, Gradients]:
        """Returns the gradients of the embeddings, and of the leaves' weights."""
        x, num_leaves = forward.x, tf.shape(forward.x)[0]
        if not self._has_leaf_product:
            return dstates[0][:num_leaves], {}
        kernel = tf.transpose(self._weights["leaf_kernel"])

        def body(i: tf.Tensor, tables: States) -> States:
            kept = tuple(tf.gather(table, i) for table in forward.leaves)
            row = tuple(tf.gather(table, i) for table in dstates)
            dz = self._cell.leaf_gradient(self._cell.unpack_leaf(kept), row)
            return write(tables, i, (dz @ kernel, dz))

        dx, dz = _run(
            num_leaves, body, zeros(num_leaves, tuple(reversed(kernel.shape)))
        )
        return dx, of_product("leaf_", x, dz)


def _run(count: tf.Tensor, body: Body, tables: States) -> States:
    """Returns the tables after nodes 0 to `count`, one after the other."""

    def step(i: tf.Tensor, tables: States) -> tuple[tf.Tensor, States]:
        return i + 1, body(i, tables)

    # One at a time: what runs beside it waits for a table of the one before.
    return tf.while_loop(
        lambda i, _: i[0] < count,
        step,
        (tf.zeros([1], tf.int32), tables),
        parallel_iterations=1,
    )[1]


def system(work: Work, optimizer: str) -> Steps:
    """Returns the system, in a process with any number of threads."""
    weights = Weights(work, optimizer)
    level = Leveler(work, share=False)
    return Steps(Recursion(work, weights), weights, level, unrolled=False)


if __name__ == "__main__":
    tensorflow_steps.serve(system)
