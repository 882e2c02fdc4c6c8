"""DyNet's programs over trees: node by node."""

from __future__ import annotations

import numpy as np

from benchmarks.ed_batch.peers.dynet_layers import (
    Gates,
    Layers,
    State,
    affine,
    affine_of_two,
    parts,
    ranges,
)
from benchmarks.peers.autobatching import dy
from benchmarks.works import trees
from benchmarks.works.tree_lstm_two_kinds import KINDS


class TreeModel:
    """Runs a cell over the trees of a batch."""

    def outputs(self, batch: trees.Batch) -> dy.Expression:
        """Returns the output of each root, as a batch."""
        words = list(set(batch.word[batch.left == trees.NO_CHILD].tolist()))
        leaves = _picked(words, self._leaves(words))
        nodes = (batch.left, batch.right, batch.word, batch.label)
        states: list[State] = []
        for left, right, word, label in zip(*(n.tolist() for n in nodes), strict=True):
            if left == trees.NO_CHILD:
                states.append(leaves[word])
            else:
                states.append(self._inside(states[left], states[right], label))
        return dy.concatenate_to_batch(
            [states[root][0] for root in batch.roots.tolist()]
        )

    def _leaves(self, words: list[int]) -> State:
        """Returns the states of words, each part of it a batch of all."""
        raise NotImplementedError

    def _inside(self, left: State, right: State, label: int) -> State:
        """Returns the state of a node with children."""
        raise NotImplementedError


class TreeGRU(TreeModel):
    """benchmarks/works/tree_gru.py."""

    def __init__(self, layers: Layers) -> None:
        self._words = layers.lookup("embedding")
        names = ("leaf", "gate", "candidate")
        self._leaf, self._gate, self._candidate = map(layers.dense, names)
        units = layers.units
        self._gates, self._each = ranges(2 * units, 3 * units), ranges(*[units] * 3)

    def _leaves(self, words: list[int]) -> State:
        x = dy.lookup_batch(self._words, words)
        return (dy.tanh(affine(self._leaf, x)),)

    def _inside(self, left: State, right: State, label: int) -> State:
        del label
        h = dy.concatenate([*left, *right])
        r, z = parts(affine(self._gate, h), self._gates)
        candidate = dy.tanh(affine(self._candidate, dy.cmult(dy.logistic(r), h)))
        # Scores are small, so that exp needs no largest one taken off.
        scores = parts(dy.exp(z), self._each)
        choices = zip(scores, (*left, *right, candidate), strict=True)
        chosen = dy.esum([dy.cmult(*pair) for pair in choices])
        return (dy.cdiv(chosen, dy.esum(scores)),)


class TreeLSTM:
    """One of the kinds of benchmarks/works/tree_lstm_two_kinds.py."""

    def __init__(self, layers: Layers, kind: str) -> None:
        self._leaf = layers.dense(f"{kind}_leaf")
        self._layer = layers.dense_of_two(kind)
        self._leaf_gates, self._gates = (Gates(n, layers.units) for n in (2, 4))

    def leaves(self, x: dy.Expression) -> State:
        """Returns h and c of leaves, of the vectors of words."""
        (i, o), u = self._leaf_gates(affine(self._leaf, x))
        return _h_and_c(o, dy.cmult(i, u))

    def inside(self, left: State, right: State) -> State:
        """Returns h and c of a node with children."""
        products = affine_of_two(self._layer, left[0], right[0])
        (i, f_left, f_right, o), u = self._gates(products)
        pairs = ((i, u), (f_left, left[1]), (f_right, right[1]))
        return _h_and_c(o, dy.esum([dy.cmult(*pair) for pair in pairs]))


class TwoKinds(TreeModel):
    """benchmarks/works/tree_lstm_two_kinds.py."""

    def __init__(self, layers: Layers) -> None:
        self._words = layers.lookup("embedding")
        self._kinds = [TreeLSTM(layers, kind) for kind in KINDS]

    def _leaves(self, words: list[int]) -> State:
        return self._kinds[0].leaves(dy.lookup_batch(self._words, words))

    def _inside(self, left: State, right: State, label: int) -> State:
        return self._kinds[label % 2].inside(left, right)


class MVRNN(TreeModel):
    """benchmarks/works/mv_rnn.py."""

    def __init__(self, layers: Layers) -> None:
        units = len(layers.weights["vector_bias"])
        vectors, matrices = np.split(layers.weights["embedding"], [units], axis=1)
        # A row of such a square is a column in DyNet, and of the matrix of a word.
        squares = matrices.reshape(-1, units, units) + np.eye(units, dtype=np.float32)
        self._vectors = layers.lookup("embedding", np.ascontiguousarray(vectors))
        self._matrices = layers.lookup("embedding", squares)
        self._vector = layers.dense_of_two("vector")
        self._matrix_kernels = layers.halves("matrix_kernel")
        self._units = units

    def outputs(self, batch: trees.Batch) -> dy.Expression:
        """Returns the vector of each root, as a batch."""
        # Zeros of each node's own would keep DyNet from batching.
        self._matrix = (dy.zeros(self._units), *self._matrix_kernels)
        return super().outputs(batch)

    def _leaves(self, words: list[int]) -> State:
        # Looked up word by word, a matrix of two products would have a wrong gradient:
        # DyNet 2.1.2 adds it to that of the first matrix that was looked up with it.
        tables = (self._vectors, self._matrices)
        return tuple([dy.lookup_batch(table, words) for table in tables])

    def _inside(self, left: State, right: State, label: int) -> State:
        del label
        (a, a_matrix), (b, b_matrix) = left, right
        p = dy.tanh(affine_of_two(self._vector, b_matrix * a, a_matrix * b))
        return p, affine_of_two(self._matrix, a_matrix, b_matrix)


def _h_and_c(o: dy.Expression, c: dy.Expression) -> State:
    return dy.cmult(o, dy.tanh(c)), c


def _picked(words: list[int], states: State) -> dict[int, State]:
    """Returns the state of each word, of their batch."""
    numbers = range(len(words))
    picked = [[dy.pick_batch_elem(part, n) for n in numbers] for part in states]
    return dict(zip(words, zip(*picked, strict=True), strict=True))
