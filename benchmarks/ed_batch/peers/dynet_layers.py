"""Layers of DyNet with the weights of a work."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from benchmarks.peers.autobatching import dy
from benchmarks.works.work import Work

Expressions = list[dy.Expression]
# What a node hands on, its output first.
State = tuple[dy.Expression, ...]
Ranges = list[tuple[int, int]]


class Layers:
    """Makes layers, each with a part of the weights.

    Attributes:
        weights: Of the work, by name.
        units: The length of an embedding, and of the states of most cells.
        collection: All parameters.
    """

    def __init__(self, work: Work) -> None:
        self.weights = work.weights
        self.units = work.weights["embedding"].shape[1]
        self.collection = dy.ParameterCollection()
        self._parameters: dict[str, list[Any]] = {}

    def norms(self) -> dict[str, float]:
        """Returns the norms of gradients, by the names of the work."""
        return {
            name: float(np.linalg.norm([_norm(part) for part in parts]))
            for name, parts in self._parameters.items()
        }

    def lookup(self, name: str, values: np.ndarray | None = None) -> Any:
        """Returns embeddings.

        Args:
            name: Of the weights.
            values: A part of them, [words, ...]; without it, all.
        """
        table = self.weights[name] if values is None else values
        made = self.collection.lookup_parameters_from_numpy(table)
        return self._keep(name, made)

    def lstm(self, name: str) -> dy.CompactVanillaLSTMBuilder:
        """Returns an LSTM; in DyNet o stands before u, and the bias of f has 1 more."""
        names = [f"{name}_{part}" for part in ("kernel", "recurrent", "bias")]
        of, four_units = self.weights[names[0]].shape
        builder = dy.CompactVanillaLSTMBuilder(1, of, four_units // 4, self.collection)
        [parameters] = builder.get_parameters()
        for each, parameter in zip(names, parameters, strict=True):
            i, f, u, o = np.split(self.weights[each], 4, axis=-1)
            if each.endswith("bias"):
                f = f - 1
            parameter.set_value(np.concatenate([i, f, o, u], -1).T)
            self._keep(each, parameter)
        return builder

    def dense(self, name: str) -> tuple[Any, Any]:
        """Returns a bias and a matrix, for `affine`."""
        return self.parameter(f"{name}_bias"), self.parameter(f"{name}_kernel")

    def dense_of_two(self, name: str) -> tuple[Any, Any, Any]:
        """Returns a bias and a matrix for each of two vectors, for `affine_of_two`.

        That takes less time than to concatenate the vectors.
        """
        return self.parameter(f"{name}_bias"), *self.halves(f"{name}_kernel")

    def halves(self, name: str) -> tuple[Any, Any]:
        """Returns the upper and the lower half of a matrix."""
        upper, lower = np.split(self.weights[name], 2)
        return self._made(name, upper), self._made(name, lower)

    def parameter(self, name: str) -> Any:
        """Returns a bias or a matrix, which in DyNet stands before what it multiplies.

        Args:
            name: Of the weights.
        """
        return self._made(name, self.weights[name])

    def _made(self, name: str, values: np.ndarray) -> Any:
        transposed = np.ascontiguousarray(values.T)
        return self._keep(name, self.collection.parameters_from_numpy(transposed))

    def _keep(self, name: str, parameter: Any) -> Any:
        self._parameters.setdefault(name, []).append(parameter)
        return parameter


class Gates:
    """Parts of a vector: some gates, and after them a candidate, all of one length."""

    def __init__(self, count: int, units: int) -> None:
        self._halves = ranges(count * units, units)
        self._each = ranges(*[units] * count)

    def __call__(self, products: dy.Expression) -> tuple[Expressions, dy.Expression]:
        """Returns the gates and the candidate, with their activations."""
        gates, candidate = parts(products, self._halves)
        return parts(dy.logistic(gates), self._each), dy.tanh(candidate)


def affine(layer: tuple[Any, Any], x: dy.Expression) -> dy.Expression:
    """Returns what `Layers.dense` makes of a vector."""
    return dy.affine_transform([*layer, x])


def affine_of_two(
    layer: tuple[Any, Any, Any], first: dy.Expression, second: dy.Expression
) -> dy.Expression:
    """Returns what `Layers.dense_of_two` makes of two vectors."""
    bias, of_first, of_second = layer
    return dy.affine_transform([bias, of_first, first, of_second, second])


def ranges(*sizes: int) -> Ranges:
    """Returns where parts of a vector begin and end, for `parts`.

    >>> ranges(2, 1)
    [(0, 2), (2, 3)]
    """
    return list(itertools.pairwise(itertools.accumulate(sizes, initial=0)))


def parts(x: dy.Expression, at: Ranges) -> Expressions:
    """Returns parts of a vector."""
    return [dy.pick_range(x, begin, end) for begin, end in at]


def _norm(parameter: Any) -> float:
    return float(np.linalg.norm(parameter.grad_as_array().astype(float)))
