"""What becomes of gradients by hand: a step of SGD or of AdaGrad, or norms."""

from __future__ import annotations

import torch
from torch import Tensor

from benchmarks.peers.command import EPSILON, RATE, START
from benchmarks.peers.torch_cells import Updates, Weights


class Sgd:
    """Adds products to the weights at once; no gradient of a matrix ever exists."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    def product(self, name: str, left: Tensor, right: Tensor) -> None:
        """See `Updates`."""
        self._weights[name].addmm_(left.t(), right, alpha=-RATE)

    def total(self, name: str, rows: Tensor) -> None:
        """See `Updates`."""
        self._weights[name].sub_(rows.sum(0), alpha=RATE)

    def rows(self, name: str, numbers: Tensor, rows: Tensor, gradient: Tensor) -> None:
        """See `Updates`."""
        _put(self._weights[name], numbers, rows.sub_(gradient, alpha=RATE))


class AdaGrad:
    """Divides gradients by the roots of the sums of their squares."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._sums = {
            name: torch.full_like(value, START) for name, value in weights.items()
        }
        matrices = {name: w for name, w in weights.items() if name != "embedding"}
        self._gradients = {name: torch.empty_like(w) for name, w in matrices.items()}
        self._divisors = {name: torch.empty_like(w) for name, w in matrices.items()}

    def product(self, name: str, left: Tensor, right: Tensor) -> None:
        """See `Updates`."""
        self._apply(name, torch.mm(left.t(), right, out=self._gradients[name]))

    def total(self, name: str, rows: Tensor) -> None:
        """See `Updates`."""
        self._apply(name, torch.sum(rows, 0, out=self._gradients[name]))

    def rows(self, name: str, numbers: Tensor, rows: Tensor, gradient: Tensor) -> None:
        """See `Updates`."""
        sums = self._sums[name].index_select(0, numbers).addcmul_(gradient, gradient)
        _put(self._sums[name], numbers, sums)
        rows.addcdiv_(gradient, sums.sqrt_().add_(EPSILON), value=-RATE)
        _put(self._weights[name], numbers, rows)

    def _apply(self, name: str, gradient: Tensor) -> None:
        sums = self._sums[name].addcmul_(gradient, gradient)
        divisor = torch.sqrt(sums, out=self._divisors[name]).add_(EPSILON)
        self._weights[name].addcdiv_(gradient, divisor, value=-RATE)


class Norms:
    """Updates nothing.

    Attributes:
        values: The norm of each gradient.
    """

    def __init__(self) -> None:
        self.values: dict[str, float] = {}

    def product(self, name: str, left: Tensor, right: Tensor) -> None:
        """See `Updates`."""
        self.values[name] = float((left.t() @ right).double().norm())

    def total(self, name: str, rows: Tensor) -> None:
        """See `Updates`."""
        self.values[name] = float(rows.sum(0).double().norm())

    def rows(self, name: str, numbers: Tensor, rows: Tensor, gradient: Tensor) -> None:
        """See `Updates`."""
        self.values[name] = float(gradient.double().norm())


def updates_of(optimizer: str, weights: Weights) -> Updates:
    """Returns the optimizer that has this name."""
    return Sgd(weights) if optimizer == "sgd" else AdaGrad(weights)


def _put(matrix: Tensor, numbers: Tensor, rows: Tensor) -> None:
    """Replaces rows, which NumPy does in half the time of `index_copy_`."""
    matrix.numpy()[numbers.numpy()] = rows.numpy()
