"""PyTorch as a user writes it: a recursive function, a tree at a time, autograd.

    python -m benchmarks.peers.torch_eager --model treelstm.npz --batch 25

The words of a batch are looked up at once, with a sparse gradient; the leaves of a tree
are computed together, its other nodes one by one; logits are those of the whole batch.
There is one way back a batch, and one step of PyTorch's own optimizer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.peers import command
from benchmarks.works.trees import NO_CHILD
from benchmarks.works.work import Work

Weights = dict[str, Tensor]
State = tuple[Tensor, ...]

THREADS = 2
UNLABELED = -1


class TreeLSTM:
    """benchmarks/works/treelstm.py."""

    def __init__(self, weights: Weights) -> None:
        self._w = weights
        self._hidden = len(weights["leaf_bias"]) // 3

    def leaves(self, x: Tensor) -> list[State]:
        """Returns h and c, a row each, of some leaves."""
        gates = torch.addmm(self._w["leaf_bias"], x, self._w["leaf_kernel"])
        s, u = gates.split([2 * self._hidden, self._hidden], 1)
        i, o = torch.sigmoid(s).chunk(2, 1)
        c = i * torch.tanh(u)
        h = o * torch.tanh(c)
        return list(zip(h.split(1), c.split(1), strict=True))

    def internal(self, left: State, right: State) -> State:
        """Returns h and c of a node with children."""
        h = torch.cat([left[0], right[0]], 1)
        gates = torch.addmm(self._w["bias"], h, self._w["kernel"])
        s, u = gates.split([4 * self._hidden, self._hidden], 1)
        i, f_left, f_right, o = torch.sigmoid(s).chunk(4, 1)
        c = torch.addcmul(i * torch.tanh(u), f_left, left[1])
        c = torch.addcmul(c, f_right, right[1])
        return o * torch.tanh(c), c


class OneLayer:
    """benchmarks/works/treernn.py, and treefc.py, which has another activation."""

    def __init__(
        self, weights: Weights, activation: Callable[[Tensor], Tensor]
    ) -> None:
        self._w = weights
        self._activation = activation

    def leaves(self, x: Tensor) -> list[State]:
        """Returns h, a row each, of some leaves."""
        return [(h,) for h in x.split(1)]

    def internal(self, left: State, right: State) -> State:
        """Returns h of a node with children, in a tuple."""
        h = torch.cat([left[0], right[0]], 1)
        return (self._activation(torch.addmm(self._w["bias"], h, self._w["kernel"])),)


CELLS: dict[str, Callable[[Weights], Any]] = {
    "treelstm": TreeLSTM,
    "treernn": lambda weights: OneLayer(weights, torch.tanh),
    "treefc": lambda weights: OneLayer(weights, torch.relu),
}


class Eager:
    """The recursion over trees, and steps around it.

    Args:
        work: What to compute.
        optimizer: "sgd" or "adagrad".
    """

    cells = CELLS

    def __init__(self, work: Work, optimizer: str) -> None:
        self._weights = {
            name: torch.from_numpy(value.copy()).requires_grad_()
            for name, value in work.weights.items()
        }
        self._cell = self.cells[work.name](self._weights)
        self._optimizer = optimizer_of(optimizer, list(self._weights.values()))
        self._trees = work.trees
        self._at_nodes = work.recursion.loss_at == "nodes"

    def weights(self) -> dict[str, np.ndarray]:
        """Returns the weights as they are now."""
        return {name: value.detach().numpy() for name, value in self._weights.items()}

    def train(self, trees: np.ndarray) -> float:
        """Runs a step of training; returns the loss."""
        loss = self._loss(trees)
        loss.backward()
        self._optimizer.step()
        self._optimizer.zero_grad()
        return float(loss.detach())

    @torch.inference_mode()
    def infer(self, trees: np.ndarray) -> float:
        """Returns the loss."""
        return float(self._loss(trees))

    def gradients(self, trees: np.ndarray) -> tuple[float, dict[str, float]]:
        """Returns the loss, and the norms of its gradients."""
        loss = self._loss(trees)
        loss.backward()
        norms = {name: norm_of(value.grad) for name, value in self._weights.items()}
        self._optimizer.zero_grad()
        return float(loss.detach()), norms

    def _loss(self, trees: np.ndarray) -> Tensor:
        sizes = self._trees.sizes[trees]
        nodes = [
            slice(start, start + size)
            for start, size in zip(self._trees.starts[trees], sizes, strict=True)
        ]
        words = [self._trees.word[of][self._trees.left[of] == NO_CHILD] for of in nodes]
        index = torch.from_numpy(np.concatenate(words))
        x = functional.embedding(index, self._weights["embedding"], sparse=True)
        states = []
        for of, rows in zip(nodes, x.split(list(map(len, words))), strict=True):
            states += self._states(of, rows)
        labels = [
            self._trees.label[of if self._at_nodes else of.stop - 1] for of in nodes
        ]
        logits = torch.addmm(
            self._weights["logits_bias"],
            torch.cat(states),
            self._weights["logits_kernel"],
        )
        loss = functional.cross_entropy(
            logits,
            torch.from_numpy(np.hstack(labels).astype(np.int64)),
            ignore_index=UNLABELED,
            reduction="sum",
        )
        return loss / len(trees)

    def _states(self, nodes: slice, x: Tensor) -> list[Tensor]:
        """Returns h of the nodes of a tree that have a loss."""
        left = self._trees.left[nodes].tolist()
        right = self._trees.right[nodes].tolist()
        leaves = iter(self._cell.leaves(x))
        states = [None if k != NO_CHILD else next(leaves) for k in left]

        def state(node: int) -> State:
            if left[node] != NO_CHILD:
                children = state(left[node]), state(right[node])
                states[node] = self._cell.internal(*children)
            return states[node]

        root = state(len(left) - 1)
        return [each[0] for each in states] if self._at_nodes else [root[0]]


def optimizer_of(name: str, weights: list[Tensor]) -> torch.optim.Optimizer:
    """Returns PyTorch's optimizer, "sgd" or "adagrad"."""
    if name == "sgd":
        return torch.optim.SGD(weights, command.RATE)
    return torch.optim.Adagrad(
        weights,
        command.RATE,
        initial_accumulator_value=command.START,
        eps=command.EPSILON,
    )


def norm_of(gradient: Tensor) -> float:
    """Returns the norm of a gradient, of which sparse rows are added up."""
    if gradient.is_sparse:
        gradient = gradient.coalesce().values()
    return float(gradient.double().norm())


def make(work: Work, optimizer: str) -> Eager:
    """Returns the system."""
    torch.set_num_threads(THREADS)
    return Eager(work, optimizer)


def versions() -> dict[str, str]:
    """Says what the system is made with."""
    return {"torch": torch.__version__}


if __name__ == "__main__":
    command.main(make, versions)
