"""The recursions in PyTorch by hand: forward and backward over the levels of a batch.

Nothing is allocated where a buffer of an earlier batch is large enough. A level is a
slice of each buffer. What the gradient needs and no node waits for is computed once for
all levels: derivatives before the way back, gradients of weights after it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from benchmarks.peers.torch_levels import Levels

Weights = dict[str, Tensor]

MINUS_ONE = torch.tensor(-1.0)
SLOW_IF_TRANSPOSED = range(4, 64)
LEVELS_WORTH_A_COPY = 3


class Updates(Protocol):
    """What becomes of gradients."""

    def product(self, name: str, left: Tensor, right: Tensor) -> None:
        """The gradient of the matrix `name` is transpose(left) right."""

    def total(self, name: str, rows: Tensor) -> None:
        """The gradient of the vector `name` is the sum of the rows."""

    def rows(self, name: str, numbers: Tensor, rows: Tensor, gradient: Tensor) -> None:
        """That of some rows of the matrix `name`, which nobody reads any more."""


class Buffers:
    """Memory by name, which grows, and is never given back."""

    def __init__(self) -> None:
        self._kept: dict[str, Tensor] = {}

    def rows(self, name: str, count: int, width: int) -> Tensor:
        """Returns float32[count, width], whose values are anything."""
        kept = self._kept.get(name)
        if kept is None or len(kept) < count:
            kept = self._kept[name] = torch.empty(count + count // 4, width)
        return kept.narrow(0, 0, count)

    def levels(
        self, name: str, sizes: Sequence[int], width: int, keep: bool
    ) -> Sequence[Tensor]:
        """Returns float32[size, width] for each level: the same memory if not kept."""
        if keep:
            return self.rows(name, sum(sizes), width).split(sizes)
        whole = self.rows(name, max(sizes, default=0), width)
        return [whole.narrow(0, 0, size) for size in sizes]


@dataclasses.dataclass(frozen=True)
class Indices:
    """A batch as tensors, the fields of which are named as of `Levels`."""

    words: Tensor
    sizes: list[int]
    children: Tensor
    slots: Tensor
    leaf_slots: Tensor
    leaf_starts: Tensor
    trees: int

    @staticmethod
    def of(batch: Levels) -> Indices:
        """Returns them."""
        arrays = (
            batch.words,
            batch.children,
            batch.slots,
            batch.leaf_slots,
            batch.leaf_starts,
        )
        words, children, slots, *leaves = map(torch.from_numpy, arrays)
        return Indices(words, batch.sizes, children, slots, *leaves, len(batch.roots))

    @property
    def pairs(self) -> list[int]:
        """How many children each level has."""
        return [2 * size for size in self.sizes]

    def sums(self, slots: Tensor) -> Tensor:
        """Returns for each row of leaves the sum of its slots."""
        return torch.embedding_bag(slots, self.leaf_slots, self.leaf_starts)[0]


def transposed(kernel: Tensor, sizes: Sequence[int], buffers: Buffers) -> Tensor:
    """Returns the transpose of a matrix, by which levels of these sizes are multiplied.

    A factor that is a transposed view takes 30 microseconds more than one that is not
    where rows are some, neither very few nor many; a copy takes 80 or more.
    """
    if sum(size in SLOW_IF_TRANSPOSED for size in sizes) <= LEVELS_WORTH_A_COPY:
        return kernel.t()
    copy = buffers.rows("transposed", kernel.shape[1], kernel.shape[0])
    np.copyto(copy.numpy(), kernel.numpy().T)
    return copy


class OneLayer:
    """benchmarks/works/treernn.py, and treefc.py, which has another activation.

    Args:
        weights: By name.
        buffers: Of this cell alone.
        activation: Works in place.
        derive: Takes gradients and outputs, and multiplies the gradients by the
            activation's derivative.
    """

    def __init__(
        self,
        weights: Weights,
        buffers: Buffers,
        activation: Callable[[Tensor], Tensor],
        derive: Callable[[Tensor, Tensor], None],
    ) -> None:
        self._w, self._buffers = weights, buffers
        self._activation, self._derive = activation, derive

    def forward(self, at: Indices, h: Tensor, keep: bool) -> None:
        """Fills h[rows, hidden]."""
        hidden, leaves, inner = h.shape[1], len(at.words), len(at.slots)
        kernel, activation = self._w["kernel"], self._activation
        torch.index_select(self._w["embedding"], 0, at.words, out=h[:leaves])
        h[leaves:].copy_(self._w["bias"])
        self._h, self._leaves = h, leaves
        self._x = self._buffers.rows("x", inner if keep else 0, 2 * hidden)
        xs = self._buffers.levels("x", at.sizes, 2 * hidden, keep)
        columns = (at.children.split(at.pairs), xs, h[leaves:].split(at.sizes))
        for children, x, h_level in zip(*columns, strict=True):
            torch.index_select(h, 0, children, out=x.view(-1, hidden))
            h_level.addmm_(x, kernel)
            activation(h_level)

    def backward(
        self, at: Indices, dh: Tensor | None, roots: Tensor | None, updates: Updates
    ) -> None:
        """Takes gradients of all h, or of those of roots."""
        hidden, leaves, inner = self._h.shape[1], self._leaves, len(at.slots)
        above = self._buffers.rows("dx", at.trees + 2 * inner, hidden)
        above[: at.trees] = 0 if roots is None else roots
        dx = above[at.trees :].view(inner, 2 * hidden)
        dz = self._buffers.rows("dz", inner, hidden)
        kernel = transposed(self._w["kernel"], at.sizes, self._buffers)
        derive = self._derive
        own = [None] * len(at.sizes) if dh is None else dh[leaves:].split(at.sizes)
        tensors = (at.slots, dz, self._h[leaves:], dx)
        columns = (own, *(tensor.split(at.sizes) for tensor in tensors))
        for d_own, slots, dz_level, h, dx_level in reversed(
            list(zip(*columns, strict=True))
        ):
            torch.index_select(above, 0, slots, out=dz_level)
            if d_own is not None:
                dz_level.add_(d_own)
            derive(dz_level, h)
            torch.mm(dz_level, kernel, out=dx_level)
        d_rows = at.sums(above)
        if dh is not None:
            d_rows.add_(dh[:leaves])
        updates.product("kernel", self._x, dz)
        updates.total("bias", dz)
        updates.rows("embedding", at.words, self._h[:leaves], d_rows)


def tanh_layer(weights: Weights, buffers: Buffers) -> OneLayer:
    """Returns the cell of benchmarks/works/treernn.py."""
    gradient = torch.ops.aten.tanh_backward.grad_input
    return OneLayer(
        weights, buffers, torch.tanh_, lambda dh, h: gradient(dh, h, grad_input=dh)
    )


def relu_layer(weights: Weights, buffers: Buffers) -> OneLayer:
    """Returns the cell of benchmarks/works/treefc.py."""
    gradient = torch.ops.aten.threshold_backward.grad_input
    return OneLayer(
        weights, buffers, torch.relu_, lambda dh, h: gradient(dh, h, 0, grad_input=dh)
    )
