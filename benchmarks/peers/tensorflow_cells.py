"""Cells of the works in TensorFlow's ops, forward and backward by hand, rows at once.

What multiplies a kernel is left to the program around a cell, which knows how many
rows to take at once. A state is h, and what else a parent gets: c.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from benchmarks.works.work import Work

States = tuple[tf.Tensor, ...]
# What the gradient needs again, as it chooses.
Kept = Any


class TreeLSTM(NamedTuple):
    """benchmarks/works/treelstm.py.

    Attributes:
        hidden: The length of h, and of c.
    """

    hidden: int

    @property
    def widths(self) -> tuple[int, ...]:
        """Of the states."""
        return (self.hidden, self.hidden)

    @property
    def leaf_kept(self) -> tuple[int, ...]:
        """The width of what `pack` makes of a leaf."""
        return (4 * self.hidden,)

    @property
    def inner_kept(self) -> tuple[int, ...]:
        """The width of what `pack` makes of another node."""
        return (6 * self.hidden,)

    def pack(self, kept: Kept) -> tuple[tf.Tensor, ...]:
        """Returns what the gradient needs, for tables."""
        return (tf.concat([kept[0], kept[1], kept[2]], 1),)

    def unpack_leaf(self, packed: tuple[tf.Tensor, ...]) -> Kept:
        """Returns what the gradient needs, from tables."""
        n = self.hidden
        s, u, tanh_c = tf.split(packed[0], [2 * n, n, n], 1)
        return (s, u, tanh_c, *tf.split(s, 2, 1))

    def unpack_inner(self, packed: tuple[tf.Tensor, ...], below: States) -> Kept:
        """Returns what the gradient needs, from tables, and from c of the children."""
        n = self.hidden
        s, u, tanh_c = tf.split(packed[0], [4 * n, n, n], 1)
        return (s, u, tanh_c, *tf.split(s, [n, 2 * n, n], 1), below[0])

    def leaf(self, z: tf.Tensor) -> tuple[States, Kept]:
        """Returns h and c, given the product and its bias, [rows, 3 * hidden]."""
        s, u = tf.split(z, [2 * self.hidden, self.hidden], 1)
        s, u = tf.sigmoid(s), tf.tanh(u)
        i, o = tf.split(s, 2, 1)
        tanh_c, states = _h_and_c(o, i * u)
        return states, (s, u, tanh_c, i, o)

    def leaf_gradient(self, kept: Kept, states: States) -> tf.Tensor:
        """Returns the gradient of what `leaf` got, given that of the states."""
        s, u, tanh_c, i, o = kept
        do, dc = _h_and_c_gradient(o, tanh_c, states)
        ds = tf.raw_ops.SigmoidGrad(y=s, dy=tf.concat([dc * u, do], 1))
        return tf.concat([ds, tf.raw_ops.TanhGrad(y=u, dy=dc * i)], 1)

    def inner(self, z: tf.Tensor, below: States) -> tuple[States, Kept]:
        """Returns h and c.

        Args:
            z: The product and its bias, [rows, 5 * hidden].
            below: c of both children, side by side: [rows, 2 * hidden].
        """
        n = self.hidden
        s, u = tf.split(z, [4 * n, n], 1)
        s, u = tf.sigmoid(s), tf.tanh(u)
        i, f, o = tf.split(s, [n, 2 * n, n], 1)
        (c_below,) = below
        left, right = tf.split(f * c_below, 2, 1)
        tanh_c, states = _h_and_c(o, tf.add_n([i * u, left, right]))
        return states, (s, u, tanh_c, i, f, o, c_below)

    def inner_gradient(self, kept: Kept, states: States) -> tuple[tf.Tensor, States]:
        """Returns the gradients of what `inner` got."""
        s, u, tanh_c, i, f, o, c_below = kept
        do, dc = _h_and_c_gradient(o, tanh_c, states)
        both = tf.concat([dc, dc], 1)
        ds = tf.concat([dc * u, both * c_below, do], 1)
        ds = tf.raw_ops.SigmoidGrad(y=s, dy=ds)
        du = tf.raw_ops.TanhGrad(y=u, dy=dc * i)
        return tf.concat([ds, du], 1), (both * f,)


def _h_and_c(o: tf.Tensor, c: tf.Tensor) -> tuple[tf.Tensor, States]:
    tanh_c = tf.tanh(c)
    return tanh_c, (o * tanh_c, c)


def _h_and_c_gradient(o: tf.Tensor, tanh_c: tf.Tensor, states: States) -> States:
    """Returns the gradients of o and c."""
    dh, dc = states
    return dh * tanh_c, dc + tf.raw_ops.TanhGrad(y=tanh_c, dy=dh * o)


class OneLayer(NamedTuple):
    """benchmarks/works/treernn.py, and treefc.py, which has another activation.

    Attributes:
        hidden: The length of h.
        activation: "tanh" or "relu".
    """

    hidden: int
    activation: str

    @property
    def widths(self) -> tuple[int, ...]:
        """Of the states."""
        return (self.hidden,)

    @property
    def inner_kept(self) -> tuple[int, ...]:
        """The width of what `pack` makes of a node that is no leaf."""
        return (self.hidden,)

    def pack(self, h: Kept) -> tuple[tf.Tensor, ...]:
        """Returns what the gradient needs, for tables."""
        return (h,)

    def unpack_inner(self, packed: tuple[tf.Tensor, ...], _: States) -> Kept:
        """Returns what the gradient needs, from tables."""
        return packed[0]

    def leaf(self, z: tf.Tensor) -> tuple[States, Kept]:
        """Returns the embedding as it is."""
        return (z,), None

    def leaf_gradient(self, _: Kept, states: States) -> tf.Tensor:
        """Returns the gradient of what `leaf` got."""
        return states[0]

    def inner(self, z: tf.Tensor, _: States) -> tuple[States, Kept]:
        """Returns h, given the product and its bias, [rows, hidden]."""
        h = tf.tanh(z) if self.activation == "tanh" else tf.nn.relu(z)
        return (h,), h

    def inner_gradient(self, h: Kept, states: States) -> tuple[tf.Tensor, States]:
        """Returns the gradient of what `inner` got."""
        if self.activation == "tanh":
            return tf.raw_ops.TanhGrad(y=h, dy=states[0]), ()
        return tf.raw_ops.ReluGrad(gradients=states[0], features=h), ()


Cell = TreeLSTM | OneLayer


def cell_of(work: Work) -> Cell:
    """Returns what the nodes of a work compute."""
    hidden = work.recursion.hidden
    return {
        "treelstm": TreeLSTM(hidden),
        "treernn": OneLayer(hidden, "tanh"),
        "treefc": OneLayer(hidden, "relu"),
    }[work.name]
