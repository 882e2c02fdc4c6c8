"""What a node computes, and its gradient, for many rows at once, in JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Array = jax.Array
# Several arrays with a row for each node.
Rows = tuple[Array, ...]
Weights = dict[str, Array]


class TreeLSTM:
    """benchmarks/works/treelstm.py. A state is h and c; kept are gates and tanh(c).

    s(x) = (1 + tanh(x / 2)) / 2, so that all gates of a row are one operation: a gate
    is kept as that tanh.

    Attributes:
        kept: How many numbers a row of each kept array has.
        product: How many numbers the product of an internal row has.
    """

    def __init__(self, weights: Weights) -> None:
        self._w = weights
        self._hidden = hidden = weights["logits_kernel"].shape[0]
        self.kept = (5 * hidden, hidden)
        self.product = 5 * hidden

    def leaf(self, x: Array) -> tuple[Rows, Rows]:
        """Returns states of leaves, and what is kept of them."""
        gates = self._gates(x @ self._w["leaf_kernel"] + self._w["leaf_bias"])
        i, o, u = jnp.split(gates, 3, 1)
        return _h_and_c(o, _logistic(i) * u, gates)

    def internal(self, h: Array, c: Array) -> tuple[Rows, Rows]:
        """Returns states of nodes, given those of their children side by side."""
        gates = self._gates(h @ self._w["kernel"] + self._w["bias"])
        i, left, right, o, u = jnp.split(gates, 5, 1)
        c_left, c_right = jnp.split(c, 2, 1)
        new_c = _logistic(i) * u + _logistic(left) * c_left + _logistic(right) * c_right
        return _h_and_c(o, new_c, gates)

    def leaf_back(self, d_states: Rows, kept: Rows) -> tuple[Array, Array]:
        """Returns gradients of the product and of x."""
        gates, squashed = kept
        i, o, u = jnp.split(gates, 3, 1)
        d_o, d_c = _back_to_c(d_states, o, squashed)
        d_gates = _d_i(d_c, i, u), d_o, _d_u(d_c, i, u)
        d_product = jnp.concatenate(d_gates, 1)
        return d_product, d_product @ self._w["leaf_kernel"].T

    def internal_back(
        self, d_states: Rows, states: Rows, kept: Rows, children: Rows
    ) -> tuple[Array, Rows]:
        """Returns gradients of the product, and of children side by side."""
        del states
        gates, squashed = kept
        i, left, right, o, u = jnp.split(gates, 5, 1)
        c_left, c_right = jnp.split(children[1], 2, 1)
        d_o, d_c = _back_to_c(d_states, o, squashed)
        d_left = d_c * c_left * _d_logistic(left)
        d_right = d_c * c_right * _d_logistic(right)
        d_gates = _d_i(d_c, i, u), d_left, d_right, d_o, _d_u(d_c, i, u)
        d_product = jnp.concatenate(d_gates, 1)
        d_h = d_product @ self._w["kernel"].T
        d_c_children = d_c * _logistic(left), d_c * _logistic(right)
        return d_product, (d_h, jnp.concatenate(d_c_children, 1))

    def weight_gradients(
        self, x: Array, d_leaf: Array, h: Array, d_internal: Array
    ) -> Weights:
        """Returns those of the cell, of the inputs of products and their gradients."""
        return {
            "leaf_kernel": x.T @ d_leaf,
            "leaf_bias": jnp.sum(d_leaf, 0),
            "kernel": h.T @ d_internal,
            "bias": jnp.sum(d_internal, 0),
        }

    def _gates(self, product: Array) -> Array:
        """Returns tanh of the last part, which is u, and of half of the others."""
        width = product.shape[1]
        half = np.where(np.arange(width) < width - self._hidden, 0.5, 1)
        return jnp.tanh(product * half.astype(np.float32))


def _h_and_c(o: Array, c: Array, gates: Array) -> tuple[Rows, Rows]:
    squashed = jnp.tanh(c)
    return (_logistic(o) * squashed, c), (gates, squashed)


def _back_to_c(d_states: Rows, o: Array, squashed: Array) -> tuple[Array, Array]:
    d_h, d_c = d_states
    d_o = d_h * squashed * _d_logistic(o)
    return d_o, d_c + d_h * _logistic(o) * (1 - squashed * squashed)


def _d_i(d_c: Array, i: Array, u: Array) -> Array:
    return d_c * u * _d_logistic(i)


def _d_u(d_c: Array, i: Array, u: Array) -> Array:
    return d_c * _logistic(i) * (1 - u * u)


def _logistic(gate: Array) -> Array:
    return 0.5 + 0.5 * gate


def _d_logistic(gate: Array) -> Array:
    return 0.25 * (1 - gate * gate)


class OneLayer:
    """benchmarks/works/treernn.py and treefc.py. A state is h; nothing else is kept.

    Args:
        weights: All of them.
        activation: Of an array.
        slope: Of the activation, given its result.
    """

    kept = ()

    def __init__(
        self,
        weights: Weights,
        activation: Callable[[Array], Array],
        slope: Callable[[Array], Array],
    ) -> None:
        self._w = weights
        self._activation = activation
        self._slope = slope
        self.product = weights["bias"].shape[0]

    def leaf(self, x: Array) -> tuple[Rows, Rows]:
        """Returns x."""
        return (x,), ()

    def internal(self, h: Array) -> tuple[Rows, Rows]:
        """Returns states of nodes, given those of their children side by side."""
        return (self._activation(h @ self._w["kernel"] + self._w["bias"]),), ()

    def leaf_back(self, d_states: Rows, kept: Rows) -> tuple[Any, Array]:
        """Returns nothing, since there is no product, and the gradient of x."""
        del kept
        return None, d_states[0]

    def internal_back(
        self, d_states: Rows, states: Rows, kept: Rows, children: Rows
    ) -> tuple[Array, Rows]:
        """Returns gradients of the product, and of children side by side."""
        del kept, children
        d_product = d_states[0] * self._slope(states[0])
        return d_product, (d_product @ self._w["kernel"].T,)

    def weight_gradients(
        self, x: Array, d_leaf: Any, h: Array, d_internal: Array
    ) -> Weights:
        """Returns those of the cell, of the inputs of products and their gradients."""
        del x, d_leaf
        return {"kernel": h.T @ d_internal, "bias": jnp.sum(d_internal, 0)}


CELLS: dict[str, Callable[[Weights], Any]] = {
    "treelstm": TreeLSTM,
    "treernn": lambda w: OneLayer(w, jnp.tanh, lambda h: 1 - h * h),
    "treefc": lambda w: OneLayer(w, jax.nn.relu, lambda h: (h > 0).astype(h.dtype)),
}
