"""PyTorch by hand: level by level over the whole batch, without autograd.

    python -m benchmarks.peers.torch_by_hand --model treelstm.npz --batch 25

Leaves of the same word are computed once. Trees know the heights of their nodes from
the start: `torch_levels.Treebank`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.peers import command
from benchmarks.peers import torch_tree_lstm as tree_lstm
from benchmarks.peers.torch_cells import Buffers, Indices, relu_layer, tanh_layer
from benchmarks.peers.torch_levels import Levels, Treebank
from benchmarks.peers.torch_updates import Norms, Updates, updates_of
from benchmarks.works.work import CLASSES, Work

THREADS = 2

CELLS: dict[str, Callable[..., Any]] = {
    "treelstm": tree_lstm.TreeLSTM,
    "treernn": tanh_layer,
    "treefc": relu_layer,
}

log_softmax_gradient = torch.ops.aten._log_softmax_backward_data.out


class ByHand:
    """A recursion, its loss, and what becomes of its gradients.

    Args:
        work: What to compute.
        optimizer: "sgd" or "adagrad".
    """

    def __init__(self, work: Work, optimizer: str) -> None:
        self._is_lstm = work.name == "treelstm"
        weights = tree_lstm.reordered(work.weights) if self._is_lstm else work.weights
        self._weights = {
            name: torch.from_numpy(value.copy()) for name, value in weights.items()
        }
        self._buffers = Buffers()
        self._cell = CELLS[work.name](self._weights, self._buffers)
        self._updates = updates_of(optimizer, self._weights)
        self._hidden = work.recursion.hidden
        self._at_nodes = work.recursion.loss_at == "nodes"
        words = len(work.weights["embedding"])
        self._treebank = Treebank(work.trees, words, work.recursion.loss_at)

    def weights(self) -> dict[str, np.ndarray]:
        """Returns the weights as they are now, as the work has them."""
        weights = {name: value.numpy() for name, value in self._weights.items()}
        return tree_lstm.restored(weights) if self._is_lstm else weights

    @torch.inference_mode()
    def train(self, trees: np.ndarray) -> float:
        """Runs a step of training; returns the loss."""
        return self._step(trees, self._updates)

    @torch.inference_mode()
    def infer(self, trees: np.ndarray) -> float:
        """Returns the loss."""
        batch = self._treebank.batch(trees)
        return self._loss(batch, self._forward(batch, Indices.of(batch), keep=False))

    @torch.inference_mode()
    def gradients(self, trees: np.ndarray) -> tuple[float, dict[str, float]]:
        """Returns the loss, and the norms of its gradients."""
        norms = Norms()
        return self._step(trees, norms), norms.values

    def _step(self, trees: np.ndarray, updates: Updates) -> float:
        batch = self._treebank.batch(trees)
        at = Indices.of(batch)
        h = self._forward(batch, at, keep=True)
        loss = self._loss(batch, h)
        d_logits = self._buffers.rows("d_logits", len(h), CLASSES)
        log_softmax_gradient(
            torch.from_numpy(batch.weights),
            self._buffers.rows("log_p", len(h), CLASSES),
            1,
            torch.float32,
            out=d_logits,
        )
        dh = self._buffers.rows("d_own", len(h), self._hidden)
        torch.mm(d_logits, self._weights["logits_kernel"].t(), out=dh)
        updates.product("logits_kernel", h, d_logits)
        updates.total("logits_bias", d_logits)
        own, roots = (dh, None) if self._at_nodes else (None, dh)
        self._cell.backward(at, own, roots, updates)
        return loss

    def _forward(self, batch: Levels, at: Indices, keep: bool) -> Tensor:
        """Returns h of the rows that have a loss."""
        h = self._buffers.rows("h", batch.rows, self._hidden)
        self._cell.forward(at, h, keep)
        return h if self._at_nodes else h[torch.from_numpy(batch.roots)]

    def _loss(self, batch: Levels, h: Tensor) -> float:
        kernel, bias = self._weights["logits_kernel"], self._weights["logits_bias"]
        logits = self._buffers.rows("logits", len(h), CLASSES)
        log_p = self._buffers.rows("log_p", len(h), CLASSES)
        torch.addmm(bias, h, kernel, out=logits)
        torch.log_softmax(logits, 1, out=log_p)
        return float(
            torch.dot(log_p.view(-1), torch.from_numpy(batch.weights).view(-1))
        )


def make(work: Work, optimizer: str) -> ByHand:
    """Returns the system."""
    torch.set_num_threads(THREADS)
    return ByHand(work, optimizer)


def versions() -> dict[str, str]:
    """Says what the system is made with."""
    return {"torch": torch.__version__}


if __name__ == "__main__":
    command.main(make, versions)
