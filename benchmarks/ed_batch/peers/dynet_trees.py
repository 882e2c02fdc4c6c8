"""DyNet's programs over trees: node by node."""

from __future__ import annotations

from benchmarks.ed_batch.peers.dynet_layers import (
    Layers,
    State,
    affine,
    parts,
    ranges,
)
from benchmarks.peers.autobatching import dy
from benchmarks.works import trees


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


def _picked(words: list[int], states: State) -> dict[int, State]:
    """Returns the state of each word, of their batch."""
    numbers = range(len(words))
    picked = [[dy.pick_batch_elem(part, n) for n in numbers] for part in states]
    return dict(zip(words, zip(*picked, strict=True), strict=True))
