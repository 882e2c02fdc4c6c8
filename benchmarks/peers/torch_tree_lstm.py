"""The TreeLSTM in PyTorch by hand: benchmarks/works/treelstm.py, level by level.

Within a row of gates stand o, i, f_l, f_r, u: the first four are logistic, and the
gradient of the last four is that of c times something.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from benchmarks.peers.torch_cells import (
    MINUS_ONE,
    Buffers,
    Indices,
    Updates,
    Weights,
    transposed,
)

sigmoid_gradient = torch.ops.aten.sigmoid_backward.grad_input
tanh_gradient = torch.ops.aten.tanh_backward.grad_input


def reordered(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns weights whose gates stand as this file has them."""
    return _permuted(weights, [1, 0, 2], [3, 0, 1, 2, 4])


def restored(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns weights whose gates stand as the work has them."""
    return _permuted(weights, [1, 0, 2], [1, 2, 3, 0, 4])


def _permuted(
    weights: dict[str, np.ndarray], leaf: list[int], inner: list[int]
) -> dict[str, np.ndarray]:
    def permute(name: str, order: list[int]) -> np.ndarray:
        parts = np.split(weights[name], len(order), axis=-1)
        return np.concatenate([parts[k] for k in order], axis=-1)

    orders = {"leaf_kernel": leaf, "leaf_bias": leaf, "kernel": inner, "bias": inner}
    return weights | {name: permute(name, order) for name, order in orders.items()}


def _activate(z: Tensor, u: Tensor) -> None:
    """Makes gates of products: u, the last part of z, becomes tanh, others logistic.

    tanh(x) is 2 s(2 x) - 1, and s is several times as fast where rows are parts of
    rows, or where MKL takes its slow path.
    """
    u.add_(u)
    z.sigmoid_()
    torch.add(MINUS_ONE, u, alpha=2, out=u)


def _output(o: Tensor, c: Tensor, tanh_c: Tensor, h: Tensor) -> None:
    torch.add(c, c, out=tanh_c).sigmoid_()
    torch.add(MINUS_ONE, tanh_c, alpha=2, out=tanh_c)
    torch.mul(o, tanh_c, out=h)


class TreeLSTM:
    """Its forward and backward over a batch.

    Args:
        weights: By name, their gates `reordered`.
        buffers: Of this cell alone.
    """

    def __init__(self, weights: Weights, buffers: Buffers) -> None:
        self._w, self._buffers = weights, buffers
        self._hidden = len(weights["leaf_bias"]) // 3

    def forward(self, at: Indices, h: Tensor, keep: bool) -> None:
        """Fills h[rows, hidden]."""
        hidden, rows, buffers = self._hidden, len(h), self._buffers
        leaves = len(at.words)
        self._c = c = buffers.rows("c", rows, hidden)
        self._leaves(at, h[:leaves], c[:leaves])
        kernel, bias = self._w["kernel"], self._w["bias"]
        if keep:
            buffers.rows("z", len(at.slots), 5 * hidden).copy_(bias)
        z_levels, x_levels, cc_levels, t_levels = (
            buffers.levels(name, at.sizes, width * hidden, keep)
            for name, width in (("z", 5), ("x", 2), ("cc", 2), ("t", 1))
        )
        above = (h[leaves:].split(at.sizes), c[leaves:].split(at.sizes))
        columns = (at.children.split(at.pairs), z_levels, x_levels, cc_levels)
        for children, z, x, cc, t, h_level, c_level in zip(
            *columns, t_levels, *above, strict=True
        ):
            torch.index_select(h, 0, children, out=x.view(-1, hidden))
            torch.index_select(c, 0, children, out=cc.view(-1, hidden))
            if keep:
                z.addmm_(x, kernel)
            else:
                torch.addmm(bias, x, kernel, out=z)
            o, i, f_left, f_right, u = z.split(hidden, 1)
            c_left, c_right = cc.split(hidden, 1)
            _activate(z, u)
            torch.mul(i, u, out=c_level)
            c_level.addcmul_(f_left, c_left).addcmul_(f_right, c_right)
            _output(o, c_level, t, h_level)

    def _leaves(self, at: Indices, h: Tensor, c: Tensor) -> None:
        kernel, rows = self._w["leaf_kernel"], len(at.words)
        x = self._buffers.rows("leaf_x", rows, len(kernel))
        z = self._buffers.rows("leaf_z", rows, 3 * self._hidden)
        torch.index_select(self._w["embedding"], 0, at.words, out=x)
        torch.addmm(self._w["leaf_bias"], x, kernel, out=z)
        o, i, u = z.split(self._hidden, 1)
        _activate(z, u)
        torch.mul(i, u, out=c)
        _output(o, c, self._buffers.rows("leaf_t", rows, self._hidden), h)

    def backward(
        self, at: Indices, dh: Tensor | None, roots: Tensor | None, updates: Updates
    ) -> None:
        """Takes gradients of all h, or of those of roots."""
        hidden, inner, buffers = self._hidden, len(at.slots), self._buffers
        leaves = len(at.words)
        above_h, above_c = (
            buffers.rows(name, at.trees + 2 * inner, hidden) for name in ("dx", "dcc")
        )
        above_h[: at.trees] = 0 if roots is None else roots
        above_c[: at.trees] = 0
        dz, d_c = self._derivatives(inner)
        own = [None] * len(at.sizes) if dh is None else dh[leaves:].split(at.sizes)
        z = buffers.rows("z", inner, 5 * hidden)
        tensors = (
            at.slots,
            buffers.rows("dh", inner, hidden),
            buffers.rows("dc", inner, hidden).view(inner, 1, hidden),
            d_c,
            dz,
            z[:, 2 * hidden : 4 * hidden].unflatten(1, (2, hidden)),
            above_h[at.trees :].view(inner, 2 * hidden),
            above_c[at.trees :].view(inner, 2, hidden),
        )
        kernel = transposed(self._w["kernel"], at.sizes, buffers)
        columns = (own, *(tensor.split(at.sizes) for tensor in tensors))
        for d_own, slots, dh_level, dc3, d_c_level, dz_level, f, dx, dcc in reversed(
            list(zip(*columns, strict=True))
        ):
            dc = dc3.squeeze(1)
            torch.index_select(above_h, 0, slots, out=dh_level)
            torch.index_select(above_c, 0, slots, out=dc)
            if d_own is not None:
                dh_level.add_(d_own)
            dc.addcmul_(dh_level, d_c_level)
            dz_level[:, 0].mul_(dh_level)
            dz_level[:, 1:].mul_(dc3)
            torch.mul(dc3, f, out=dcc)
            torch.mm(dz_level.view(-1, 5 * hidden), kernel, out=dx)
        dh_leaves = at.sums(above_h)
        if dh is not None:
            dh_leaves.add_(dh[:leaves])
        dz = dz.view(inner, 5 * hidden)
        updates.product("kernel", buffers.rows("x", inner, 2 * hidden), dz)
        updates.total("bias", dz)
        self._leaves_backward(at, dh_leaves, at.sums(above_c), updates)

    def _derivatives(self, inner: int) -> tuple[Tensor, Tensor]:
        """Returns those of all gates by h or c, [inner, 5, hidden], and of h by c."""
        hidden, buffers = self._hidden, self._buffers
        z = buffers.rows("z", inner, 5 * hidden)
        dz = buffers.rows("dz", inner, 5 * hidden)
        d_c = buffers.rows("d_c", inner, hidden)
        t = buffers.rows("t", inner, hidden)
        cc = buffers.rows("cc", inner, 2 * hidden)
        parts = [hidden, hidden, 2 * hidden, hidden]
        o, i, f, u = z.split(parts, 1)
        d_o, d_i, d_f, d_u = dz.split(parts, 1)
        tanh_gradient(o, t, grad_input=d_c)
        sigmoid_gradient(t, o, grad_input=d_o)
        sigmoid_gradient(u, i, grad_input=d_i)
        sigmoid_gradient(cc, f, grad_input=d_f)
        tanh_gradient(i, u, grad_input=d_u)
        return dz.view(inner, 5, hidden), d_c

    def _leaves_backward(
        self, at: Indices, dh: Tensor, dc: Tensor, updates: Updates
    ) -> None:
        hidden, rows, buffers = self._hidden, len(at.words), self._buffers
        kernel = self._w["leaf_kernel"]
        z = buffers.rows("leaf_z", rows, 3 * hidden)
        t = buffers.rows("leaf_t", rows, hidden)
        dz = buffers.rows("leaf_dz", rows, 3 * hidden)
        o, i, u = z.split(hidden, 1)
        d_o, d_i, d_u = dz.split(hidden, 1)
        sigmoid_gradient(t, o, grad_input=d_o)
        d_o.mul_(dh)
        # Of h by c, where nothing else is needed any more.
        tanh_gradient(o, t, grad_input=t)
        dc.addcmul_(dh, t)
        sigmoid_gradient(u, i, grad_input=d_i)
        tanh_gradient(i, u, grad_input=d_u)
        dz[:, hidden:].unflatten(1, (2, hidden)).mul_(dc[:, None])
        x = buffers.rows("leaf_x", rows, len(kernel))
        dx = buffers.rows("leaf_dx", rows, len(kernel))
        torch.mm(dz, kernel.t(), out=dx)
        updates.product("leaf_kernel", x, dz)
        updates.total("leaf_bias", dz)
        updates.rows("embedding", at.words, x, dx)
