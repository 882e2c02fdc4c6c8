"""JAX: levels by hand in one jitted program a shape, gradients by hand.

    python -m benchmarks.peers.jax_levels --model treelstm.npz --batch 25

Rows are padded to few numbers (`padded_levels`), so that few programs are compiled, in
the pass that is not timed. All leaves are one product, and all weight gradients; a
level is one step of a loop. JAX would differentiate such loops only if their lengths
were fixed, and would keep states for each of their steps.
"""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

# XLA has one thread for each of them.
os.environ.setdefault("NPROC", "2")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np
from jax import lax

from benchmarks.peers import command
from benchmarks.peers.jax_cells import CELLS, Rows, Weights
from benchmarks.peers.padded_levels import Fields, PaddedTrees, Shape, fields
from benchmarks.works.work import Work

# A call computes in the thread that waits for it.
jax.config.update("jax_cpu_enable_async_dispatch", False)
# XLA allocates a program's memory anew at each call. The C library would give large
# blocks back to the system, and each of their pages would be zeroed at its first use:
# up to half of a step. M_MMAP_MAX, M_TRIM_THRESHOLD.
_LIBC = ctypes.CDLL(None)
_LIBC.mallopt(-4, 0)
_LIBC.mallopt(-1, 2**31 - 1)

Array = jax.Array


class Program:
    """The loss of a batch of some shape, and its gradients; traced by `jax.jit`.

    Args:
        work: What to compute.
        shape: Of the batch.
        numbers: Of the batch.
        weights: All of them.
    """

    def __init__(self, work: Work, shape: Shape, numbers: Array, weights: Weights):
        self._at_nodes = work.recursion.loss_at == "nodes"
        self._shape = shape
        self._batch: Fields = fields(shape, numbers)
        self._w = weights
        self._cell = CELLS[work.name](weights)
        self.words = take(self._batch.words, self._batch.word_of)
        # Padding is a word beyond all.
        self._x = weights["embedding"].at[self.words].get(mode="clip")

    def loss(self) -> Array:
        """Returns the loss; keeps nothing."""
        states, _ = self._cell.leaf(self._x)
        states, _ = self._up(states, is_kept=False)
        return self._loss_at(states[0])[0]

    def gradients(self) -> tuple[Array, Weights]:
        """Returns the loss and its gradients; of the embedding, a row for each leaf."""
        leaves, leaf_kept = self._cell.leaf(self._x)
        states, kept = self._up(leaves, is_kept=True)
        loss, d_h, gradients = self._loss_at(states[0])
        slots, d_inner = self._down(states, kept, d_h)
        d_leaves = self._d_states(slots, d_h, 0, self._shape.leaves)
        d_leaf, d_x = self._cell.leaf_back(d_leaves, leaf_kept)
        internal = self._shape.internal
        h = self._of_children(states[:1], 0, internal)[0]
        gradients |= self._cell.weight_gradients(self._x, d_leaf, h, d_inner[:internal])
        return loss, gradients | {"embedding": d_x}

    def _up(self, leaves: Rows, *, is_kept: bool) -> tuple[Rows, Rows]:
        """Returns the states of all rows, and what is kept of internal ones."""
        inner, leaf_count = self._shape.inner, self._shape.leaves

        def level(width: int, index: Array, carry: Any) -> Any:
            states, kept = carry
            start = self._batch.starts[index]
            new, new_kept = self._cell.internal(
                *self._of_children(states, start, width)
            )
            states = put_all(states, new, leaf_count + start)
            return states, put_all(kept, new_kept, start) if is_kept else ()

        carry = (
            tuple(jnp.pad(leaf, ((0, inner), (0, 0))) for leaf in leaves),
            tuple(jnp.zeros((inner, width)) for width in self._cell.kept * is_kept),
        )
        for number, width in enumerate(self._shape.widths):
            phase = functools.partial(level, width)
            first, end = self._batch.phases[number], self._batch.phases[number + 1]
            carry = lax.fori_loop(first, end, phase, carry)
        return carry

    def _down(self, states: Rows, kept: Rows, d_h: Array) -> tuple[Rows, Array]:
        """Returns gradients that parents left for children, and those of products."""
        shape = self._shape

        def level(width: int, last: Array, step: Array, carry: Any) -> Any:
            slots, d_inner = carry
            start = self._batch.starts[last - step]
            d_states = self._d_states(slots, d_h, shape.leaves + start, width)
            d_product, d_children = self._cell.internal_back(
                d_states,
                slices(states, shape.leaves + start, width),
                slices(kept, start, width),
                self._of_children(states, start, width),
            )
            by_child = [d.reshape(2 * width, -1) for d in d_children]
            return put_all(slots, by_child, 2 * start), put(d_inner, d_product, start)

        slots = [
            jnp.zeros((2 * shape.inner + shape.trees + 1, state.shape[1]))
            for state in states
        ]
        if not self._at_nodes:
            slots[0] = put(slots[0], d_h, 2 * shape.inner)
        carry = tuple(slots), jnp.zeros((shape.inner, self._cell.product))
        for number in reversed(range(len(shape.widths))):
            first, end = self._batch.phases[number], self._batch.phases[number + 1]
            phase = functools.partial(level, shape.widths[number], end - 1)
            carry = lax.fori_loop(0, end - first, phase, carry)
        return carry

    def _of_children(self, states: Rows, start: Any, width: int) -> Rows:
        """Returns states of both children of some rows, side by side."""
        children = lax.dynamic_slice(self._batch.children, (2 * start,), (2 * width,))
        return tuple(take(state, children).reshape(width, -1) for state in states)

    def _d_states(self, slots: Rows, d_h: Array, start: Any, width: int) -> Rows:
        """Returns gradients of states of some rows, whose parents have been there."""
        slot = lax.dynamic_slice(self._batch.slot, (start,), (width,))
        first, *others = (take(left, slot) for left in slots)
        if self._at_nodes:
            first += slices([d_h], start, width)[0]
        return first, *others

    def _loss_at(self, h: Array) -> tuple[Array, Array, Weights]:
        """Returns the loss, the gradient of h where a loss is, and of weights."""
        label = self._batch.label
        if not self._at_nodes:
            h, label = take(h, self._batch.root), take(label, self._batch.root)
        kernel = self._w["logits_kernel"]
        logits = h @ kernel + self._w["logits_bias"]
        logs = jax.nn.log_softmax(logits)
        is_label = label[:, np.newaxis] == np.arange(kernel.shape[1])
        trees = self._shape.trees
        loss = -jnp.sum(jnp.where(is_label, logs, 0)) / trees
        has_label = (label >= 0)[:, np.newaxis]
        d_logits = jnp.where(has_label, jnp.exp(logs) - is_label, 0) / trees
        gradients = {
            "logits_kernel": h.T @ d_logits,
            "logits_bias": jnp.sum(d_logits, 0),
        }
        return loss, d_logits @ kernel.T, gradients


def take(rows: Array, indices: Array) -> Array:
    """Returns some rows, all of which there are."""
    return rows.at[indices].get(mode="promise_in_bounds")


def put(rows: Array, new: Array, start: Any) -> Array:
    """Returns rows of which some are new."""
    return lax.dynamic_update_slice(rows, new, (start, 0))


def put_all(rows: Any, new: Any, start: Any) -> Rows:
    """Returns arrays of rows of each of which some are new."""
    return tuple(put(old, some, start) for old, some in zip(rows, new, strict=True))


def slices(rows: Any, start: Any, width: int) -> Rows:
    """Returns some rows of each array."""
    return tuple(
        lax.dynamic_slice(array, (start, 0), (width, array.shape[1])) for array in rows
    )


class JaxLevels:
    """Programs, one for each shape, and the weights.

    Args:
        work: What to compute.
        optimizer: "sgd" or "adagrad".
    """

    def __init__(self, work: Work, optimizer: str) -> None:
        self._work = work
        self._is_adagrad = optimizer == "adagrad"
        self._trees = PaddedTrees(work.trees, len(work.weights["embedding"]))
        self._weights = {
            name: jnp.asarray(value) for name, value in work.weights.items()
        }
        self._sums = {
            name: jnp.full_like(value, command.START)
            for name, value in self._weights.items()
            if self._is_adagrad
        }
        self._train_step = jax.jit(self._train, static_argnums=0, donate_argnums=(2, 3))
        self._infer_step = jax.jit(self._infer, static_argnums=0)
        self._gradient_step = jax.jit(self._gradients, static_argnums=0)

    def train(self, trees: np.ndarray) -> float:
        """Runs a step of training; returns the loss."""
        batch = self._trees.batch(trees)
        loss, self._weights, self._sums = self._train_step(
            batch.shape, batch.numbers, self._weights, self._sums
        )
        return float(loss)

    def infer(self, trees: np.ndarray) -> float:
        """Returns the loss."""
        batch = self._trees.batch(trees)
        return float(self._infer_step(batch.shape, batch.numbers, self._weights))

    def gradients(self, trees: np.ndarray) -> tuple[float, dict[str, float]]:
        """Returns the loss, and the norms of its gradients."""
        batch = self._trees.batch(trees)
        loss, norms = self._gradient_step(batch.shape, batch.numbers, self._weights)
        return float(loss), {name: float(norms[name]) for name in self._weights}

    def _train(
        self, shape: Shape, numbers: Array, weights: Weights, sums: Weights
    ) -> tuple[Array, Weights, Weights]:
        program = Program(self._work, shape, numbers, weights)
        loss, gradients = program.gradients()
        rows = gradients.pop("embedding")
        weights, sums = dict(weights), dict(sums)
        for name, gradient in gradients.items():
            if self._is_adagrad:
                sums[name] += gradient * gradient
                gradient = _scaled(gradient, sums[name])
            weights[name] -= command.RATE * gradient
        words = program.words
        if self._is_adagrad:
            words = fields(shape, numbers).words
            rows = _summed(shape, numbers, rows)
            sums["embedding"] = (
                sums["embedding"].at[words].add(rows * rows, mode="drop")
            )
            rows = _scaled(rows, sums["embedding"].at[words].get(mode="clip"))
        weights["embedding"] = (
            weights["embedding"].at[words].add(-command.RATE * rows, mode="drop")
        )
        return loss, weights, sums

    def _infer(self, shape: Shape, numbers: Array, weights: Weights) -> Array:
        return Program(self._work, shape, numbers, weights).loss()

    def _gradients(
        self, shape: Shape, numbers: Array, weights: Weights
    ) -> tuple[Array, Weights]:
        loss, gradients = Program(self._work, shape, numbers, weights).gradients()
        gradients["embedding"] = _summed(shape, numbers, gradients["embedding"])
        return loss, {name: jnp.linalg.norm(g) for name, g in gradients.items()}


def _scaled(gradient: Array, squares: Array) -> Array:
    return gradient / (jnp.sqrt(squares) + command.EPSILON)


def _summed(shape: Shape, numbers: Array, rows: Array) -> Array:
    """Returns a row for each of the batch's words."""
    return jnp.zeros_like(rows).at[fields(shape, numbers).word_of].add(rows)


def versions() -> dict[str, str]:
    """Says what the system is made with."""
    return {"jax": jax.__version__, "jaxlib": jaxlib.__version__}


if __name__ == "__main__":
    command.main(JaxLevels, versions)
